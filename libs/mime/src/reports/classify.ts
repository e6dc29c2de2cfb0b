import { causesIn } from './words/causes.ts'

export type BounceType = 'Permanent' | 'Transient' | 'Undetermined'
export type BounceSubType =
  | 'NoEmail'
  | 'General'
  | 'MailboxFull'
  | 'MessageTooLarge'
  | 'ContentRejected'
  | 'Undetermined'

/**
 * Whether a bounce suppresses its recipient (events 1.3): at once; at the second one for the address that is about another
 * message; or never, because the address is not at fault, or not certainly.
 */
export type Suppression = 'at_once' | 'at_second' | 'never'

/** How a bounce is classified in events, and whether its recipient is suppressed. */
export interface BounceClass {
  readonly type: BounceType
  readonly subType: BounceSubType
  readonly suppress: Suppression
}

/** What is known of a failed delivery. */
export interface Failure {
  /** Enhanced status code (RFC 3463) by itself, for example `5.1.1`: a Status field, or that of an SMTP reply. */
  readonly status?: string | undefined
  /** The answer of the server in words, for example `550 5.1.1 User unknown`; also with `smtp;` ahead of it. */
  readonly diagnostic?: string | undefined
  /** The address that failed, where it is known. */
  readonly recipient?: string | undefined
  /** Whether there will be no retry: the retry window is over, or a report says `failed`. */
  readonly exhausted: boolean
}

/** How a complaint is classified in events; every complaint suppresses. */
export interface ComplaintClass {
  readonly type: string
  readonly subType: string
}

const NO_EMAIL: BounceClass = { type: 'Permanent', subType: 'NoEmail', suppress: 'at_once' }
const GENERAL: BounceClass = { type: 'Permanent', subType: 'General', suppress: 'at_second' }
const MAILBOX_FULL = transient('MailboxFull')
const TOO_LARGE = transient('MessageTooLarge')
const REFUSED = transient('ContentRejected')
const GIVEN_UP = transient('General')
const UNDETERMINED: BounceClass = { type: 'Undetermined', subType: 'Undetermined', suppress: 'never' }

/** Codes with a row of their own; the first row that matches is meant. */
const CODES: readonly (readonly [RegExp, BounceClass])[] = [
  [/^5\.1\.(?:1|2|3|6|10)$/, NO_EMAIL],
  [/^[45]\.2\.2$/, MAILBOX_FULL],
  [/^5\.(?:2\.3|3\.4)$/, TOO_LARGE],
  [/^5\.(?:1\.[78]|3\.[02]|[4567]\.\d+)$/, REFUSED],
]

/** An enhanced status; not a part of an IP address or of a version. */
const ENHANCED = /(?<![\d.])[245]\.[0-7]\.\d{1,3}(?!\.?\d)/
const ENHANCED_ALL = new RegExp(ENHANCED, 'g')
const SMTP_CODE = /^(?:smtp;)?\s*([245])\d\d\b/i
/** The same anywhere in what a program says of an answer. */
const REPLY_CODE = /(?<![\d.])[245]\d\d(?![\d.])/
/** Longer than any honest answer. */
const MAX_TEXT = 1_000

/** The enhanced status code (RFC 3463) in a server's answer or a Status field, for example `5.1.1`. */
export function enhancedStatusIn(text: string): string | undefined {
  return ENHANCED.exec(text.slice(0, MAX_TEXT))?.[0]
}

/**
 * The class of a failed delivery (events 1.3); undefined while it is not a bounce, because a temporary failure is still
 * being retried. Of all codes and words the specific ones decide, and `x.0.0` is none; where two of them are in different
 * rows of the table, the address is not suppressed, a cause that passes outweighs a permanent one, and a row of its own
 * outweighs that of any other temporary failure.
 */
export function classifyBounce(failure: Failure): BounceClass | undefined {
  const facts = factsOf(failure)
  const { severity } = facts
  if (severity === 4 && !failure.exhausted) return undefined
  const [only, ...others] = rowsFor(facts)
  if (only === undefined) return severity === 5 ? GENERAL : severity === 4 ? GIVEN_UP : UNDETERMINED
  if (others.length === 0) return only
  const passing = [only, ...others].filter(({ type }) => type === 'Transient')
  return passing.find((row) => row !== GIVEN_UP) ?? passing[0] ?? { ...only, suppress: 'never' }
}

/** Whether a code or words tell why, rather than only that, the delivery failed. */
export function namesCause(failure: Omit<Failure, 'exhausted'>): boolean {
  const facts = factsOf(failure)
  return rowsFor(facts).length > 0 || facts.causes.closed
}

function factsOf({ status = '', diagnostic = '', recipient }: Omit<Failure, 'exhausted'>) {
  const text = diagnostic.slice(0, MAX_TEXT)
  const given = enhancedStatusIn(status)
  const said = [...new Set([...(given === undefined ? [] : [given]), ...(text.match(ENHANCED_ALL) ?? [])])]
  // Success is not why it failed; and `5.1.0` says that it is about the address, which `5.1.1` says, too.
  const codes = said.filter((code) => !code.startsWith('2') && !(code.endsWith('.0') && isRefined(code, said)))
  const severity = Number(
    [given, SMTP_CODE.exec(text)?.[1], codes[0]].find((code) => /^[45]/.test(code ?? ''))?.[0] ?? 0,
  )
  // A server that never got an answer has no other class for it than 4.0.0.
  const isAnswered = !given?.endsWith('.0.0') || REPLY_CODE.test(text)
  return { codes, causes: causesIn(text, recipient), severity, isFinal: severity !== 4 || !isAnswered }
}

function isRefined(code: string, codes: readonly string[]): boolean {
  const subject = code.slice(0, -1)
  return codes.some((other) => other !== code && other.startsWith(subject))
}

/** The rows of the table that codes and words name, each once. */
function rowsFor({ codes, causes, isFinal }: ReturnType<typeof factsOf>): BounceClass[] {
  const { full, tooLarge, sender, refused, givenUp, nobody } = causes
  const rows = new Set(codes.flatMap(rowOf))
  if (full) rows.add(MAILBOX_FULL)
  if (tooLarge) rows.add(TOO_LARGE)
  if (sender || (refused && !rows.has(GIVEN_UP))) rows.add(REFUSED)
  if (rows.size > 0) return [...rows]
  if (givenUp) return [GIVEN_UP]
  return nobody && isFinal ? [NO_EMAIL] : []
}

/** The row of a specific code. */
function rowOf(code: string): BounceClass[] {
  if (code.endsWith('.0.0')) return []
  const row = CODES.find(([pattern]) => pattern.test(code))?.[1]
  return [row ?? (code.startsWith('5') ? GENERAL : GIVEN_UP)]
}

/**
 * The class of an abuse report by its Feedback-Type (events 1.3, RFC 5965 7.3); undefined for reports that are not
 * complaints: `not-spam`, and `auth-failure` (RFC 6591).
 */
export function classifyComplaint(feedbackType: string | undefined): ComplaintClass | undefined {
  const type = feedbackType?.trim().toLowerCase() || 'abuse'
  if (type === 'not-spam' || type === 'auth-failure') return undefined
  if (type === 'abuse') return { type: 'abuse', subType: 'spam' }
  return type === 'fraud' || type === 'virus' ? { type, subType: type } : { type: 'other', subType: 'other' }
}

function transient(subType: BounceSubType): BounceClass {
  return { type: 'Transient', subType, suppress: 'never' }
}
