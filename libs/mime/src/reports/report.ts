import { allValues, fieldGroups, firstValue, type HeaderField } from '../headers/header-fields.ts'
import { messageIdsIn } from '../headers/message-ids.ts'
import type { Budget } from '../limits/limits.ts'
import { contentOf, type Part } from '../parse/structure.ts'
import { enhancedStatusIn } from './classify.ts'

/** Outcome for one recipient (RFC 3464 2.3). */
export interface RecipientStatus {
  /** The address the report is about, when it names one. */
  readonly recipient?: string
  /** The original recipient address of the mail, when the report names it. */
  readonly originalRecipient?: string
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** Enhanced status code, for example `5.1.1`. */
  readonly status?: string
  /** SMTP code of the diagnostic, for example 550. */
  readonly smtpCode?: number
  readonly diagnostic?: string
  readonly remoteMta?: string
}

/** A delivery status notification (RFC 3464), or a report in another form that mail servers use. */
export interface DeliveryReport {
  readonly kind: 'delivery'
  readonly recipients: RecipientStatus[]
  readonly reportingMta?: string
  readonly originalEnvelopeId?: string
  readonly originalMessageId?: string
}

/** An abuse report (ARF, RFC 5965). */
export interface FeedbackReport {
  readonly kind: 'feedback'
  /** Feedback-Type in lower case. */
  readonly feedbackType?: string
  readonly recipients: string[]
  /** Envelope sender of the original, by the report. */
  readonly originalMailFrom?: string
  /** The same by the `Return-Path` field of the enclosed original. */
  readonly originalReturnPath?: string
  readonly originalMessageId?: string
}

export type Report = DeliveryReport | FeedbackReport

const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const
const MAX_RECIPIENTS = 500
const MAX_DIAGNOSTIC = 2_000

/**
 * The report in a mail of this structure, or undefined when it is not in a form of reports. Not every server names its
 * reports `multipart/report`, and some name the recipients in a header field alone.
 */
export function reportIn(raw: Buffer, root: Part, budget: Budget): Report | undefined {
  const parts = [...partsIn(root)]
  const original = originalHeader(raw, parts, budget)
  const [originalMessageId] = messageIdsIn(firstValue(original, 'message-id') ?? '')
  const known = originalMessageId === undefined ? {} : { originalMessageId }
  const feedback = parts.find(({ type }) => type === 'message/feedback-report')
  if (feedback) {
    const returnPath = addressInPath(firstValue(original, 'return-path') ?? '')
    const enclosed = { ...known, ...(returnPath && { originalReturnPath: returnPath }) }
    return feedbackReport(contentOf(raw, feedback, budget.limits.bodyBytes), enclosed, budget)
  }
  const status = parts.find(({ type }) => /^message\/(?:global-)?delivery-status$/.test(type))
  if (status) return deliveryReport(contentOf(raw, status, budget.limits.bodyBytes), known, budget)
  return reportInHeader(root, known)
}

/** The parts of a mail, also where a gateway has put its own around a report; not those of a mail that is enclosed. */
function* partsIn({ children }: Part): Generator<Part> {
  for (const part of children) {
    yield part
    if (part.type.startsWith('multipart/')) yield* partsIn(part)
  }
}

/** The report of a server that names the recipients in its header, as Exim and Google do. */
function reportInHeader(root: Part, known: { originalMessageId?: string }): DeliveryReport | undefined {
  const addresses = allValues(root.fields, 'x-failed-recipients')
    .flatMap((value) => value.split(','))
    .map((address) => address.trim())
    .filter((address) => address !== '')
  if (addresses.length === 0) return undefined
  const recipients = addresses.slice(0, MAX_RECIPIENTS).map((recipient) => ({ recipient, action: 'failed' as const }))
  return { kind: 'delivery', recipients, ...known }
}

function deliveryReport(body: Buffer, known: { originalMessageId?: string }, budget: Budget): DeliveryReport {
  const [perMessage = [], ...groups] = fieldGroups(body, MAX_RECIPIENTS + 1, budget)
  // Some senders omit the empty line after the per-message fields.
  const recipients = [perMessage, ...groups].map(recipientStatus).filter((entry) => entry !== undefined)
  const reportingMta = typed(firstValue(perMessage, 'reporting-mta'))
  const originalEnvelopeId = firstValue(perMessage, 'original-envelope-id')
  return {
    kind: 'delivery',
    // A report whose words are in no field that is known is about a failure all the same.
    recipients: recipients.length > 0 ? recipients : [{ action: 'failed' }],
    ...(reportingMta && { reportingMta }),
    ...(originalEnvelopeId && { originalEnvelopeId }),
    ...known,
  }
}

function recipientStatus(fields: readonly HeaderField[]): RecipientStatus | undefined {
  const finalRecipient = addressOf(firstValue(fields, 'final-recipient'))
  const originalRecipient = withoutXtext(addressOf(firstValue(fields, 'original-recipient')), finalRecipient)
  // Final addresses of other systems (X.400, a mailbox's name) are none that mail was sent to.
  const recipient = finalRecipient?.includes('@') ? finalRecipient : (originalRecipient ?? finalRecipient)
  const status = enhancedStatusIn(firstValue(fields, 'status') ?? '')
  const action = actionOf(firstValue(fields, 'action'), status)
  if (action === undefined) return undefined
  const diagnostic = typed(firstValue(fields, 'diagnostic-code'))?.slice(0, MAX_DIAGNOSTIC)
  const code = /^\s*([245]\d\d)\b/.exec(diagnostic ?? '')?.[1]
  const remoteMta = typed(firstValue(fields, 'remote-mta'))
  return {
    ...(recipient !== undefined && { recipient }),
    ...(originalRecipient !== undefined && { originalRecipient }),
    action,
    ...(status !== undefined && { status }),
    ...(code !== undefined && { smtpCode: Number(code) }),
    ...(diagnostic !== undefined && { diagnostic }),
    ...(remoteMta !== undefined && { remoteMta }),
  }
}

/** Servers have actions of their own, such as `expired`: then the class of the status tells (RFC 3463). */
function actionOf(value: string | undefined, status: string | undefined): RecipientStatus['action'] | undefined {
  const word = value?.split(/[\s(;]/, 1)[0]?.toLowerCase()
  const known = ACTIONS.find((action) => action === word)
  if (known !== undefined || status === undefined) return known
  if (status.startsWith('2')) return 'delivered'
  return status.startsWith('5') || word === 'expired' ? 'failed' : 'delayed'
}

type EnclosedOriginal = Pick<FeedbackReport, 'originalMessageId' | 'originalReturnPath'>

function feedbackReport(body: Buffer, enclosed: EnclosedOriginal, budget: Budget): FeedbackReport {
  const fields = fieldGroups(body, MAX_RECIPIENTS, budget).flat()
  const feedbackType = firstValue(fields, 'feedback-type')?.toLowerCase()
  const originalMailFrom = addressInPath(firstValue(fields, 'original-mail-from') ?? '')
  return {
    kind: 'feedback',
    ...(feedbackType && { feedbackType }),
    recipients: allValues(fields, 'original-rcpt-to').slice(0, MAX_RECIPIENTS).map(addressInPath),
    ...(originalMailFrom && { originalMailFrom }),
    ...enclosed,
  }
}

/** The address of a path (RFC 5321 4.1.2). */
function addressInPath(value: string): string {
  return value.trim().replace(/^<|>$/g, '')
}

/** The header of the returned message, whole or as text/rfc822-headers. */
function originalHeader(raw: Buffer, parts: readonly Part[], budget: Budget): readonly HeaderField[] {
  const original = parts.find(({ type }) =>
    /^(?:message\/(?:rfc822|global|rfc822-headers|global-headers)|text\/rfc822-headers)$/.test(type),
  )
  if (original === undefined) return []
  return fieldGroups(contentOf(raw, original, budget.limits.bodyBytes), 1, budget)[0] ?? []
}

/** The text of a `type; text` field (RFC 3464 2.1.2), without angle brackets. */
function typed(value: string | undefined): string | undefined {
  const text = value?.slice(value.indexOf(';') + 1).trim()
  return text?.replace(/^<([^<>]*)>$/, '$1') || undefined
}

/** A visible character. */
const ESCAPED = /\\x\{0{0,4}((?:[2-7a-f][0-9a-f]|[1-9a-f][0-9a-f]{2,4}|10[0-9a-f]{4}))\}/gi

/** Without a comment; an address of the type `utf-8` may have its characters in ASCII, as `\x{E9}` (RFC 6533 3). */
function addressOf(value: string | undefined): string | undefined {
  const address = typed(value?.replace(/\([^()]*\)\s*$/, ''))
  if (address === undefined || !/^\s*utf-8\s*;/i.test(value ?? '')) return address
  return address.replace(ESCAPED, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16))).toWellFormed()
}

/**
 * Some servers copy an original recipient as SMTP carried it, with its `+` and `=` in hex (RFC 3461 4.2). Most decode it, and
 * `+3D` may be part of an address: the final recipient tells, where there is one.
 */
function withoutXtext(address: string | undefined, finalRecipient: string | undefined): string | undefined {
  const decoded = address?.replaceAll('+3D', '=').replaceAll('+2B', '+')
  const isKnown = finalRecipient?.includes('@') === true
  return isKnown && localPartOf(decoded) !== localPartOf(finalRecipient) ? address : decoded
}

function localPartOf(address: string | undefined): string | undefined {
  return address?.slice(0, address.lastIndexOf('@')).toLowerCase()
}
