import { enhancedStatusIn, namesCause } from './classify.ts'
import type { DeliveryReport, RecipientStatus } from './report.ts'
import { announcesDelay, announcesDelivery, announcesFailure } from './words/announcements.ts'

/** A mail that may say that another one failed, without a form of reports. */
export interface BounceText {
  readonly subject: string | undefined
  readonly text: string
  /** Addresses that it was sent from and to: none of them failed. */
  readonly parties?: readonly string[]
}

/** What the words of a mail say of a delivery. */
export interface TextReport extends DeliveryReport {
  /** Its subject and its own words, on one line. */
  readonly words: string
  /** The words announce a failure or a delay. */
  readonly announced: boolean
  /** They have the answer of a server among them. */
  readonly answered: boolean
  /** The mail that failed follows in the text, with the fields that servers wrote. */
  readonly returned: boolean
}

/** Characters that are searched: servers say first what failed, and quote the mail afterwards. */
const SEARCHED = 20_000
const MAX_DIAGNOSTIC = 2_000
const MAX_RECIPIENTS = 100

/** Where the returned mail begins: a line that says so, or the first of its fields. */
const SAYS_SO =
  /^[^\w\n]{0,40}(?:below this line is a copy|this is a copy of the message|below is a copy|the header of the original|original message (?:follows|headers)|unsent message follows|message text follows|original message\b(?!.?id\b)|message d['’]origine|исходное сообщение)/im
const FIELD =
  /(?:^|\n[ \t]*)\n(?:received: (?:from|by) |return-path: ?<|dkim-signature: ?v=|message-id: ?<|mime-version: ?1)/i

/**
 * Words stand beside an address without a blank where a script has none, so one part of an address is either in such a
 * script or not.
 */
const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}`
const DELIMITERS = String.raw`\s<>"'()[\]:;,@|=（）【】「」《》〈〉“”：；，。、`
const LOCAL_PART = `(?:[^${DELIMITERS}${UNSPACED}]{1,64}|[^${DELIMITERS}!-~]{1,64})`
const LABEL = `(?:[^${DELIMITERS}.${UNSPACED}]{1,63}|[^${DELIMITERS}!-~]{1,63})`
const ADDRESS = new RegExp(String.raw`${LOCAL_PART}@${LABEL}(?:\.${LABEL}){1,10}`, 'gu')
/** What stands ahead of the address that a line is about: nothing, or a label. */
const LEADING =
  /^(?!\W{0,20}(?:to|cc|an|à|para|a)\s*:)[\s>*|•-]{0,20}(?:[^@:：]{1,40}[:：]\s{0,20})?(?:["'<[(（【]|mailto:|smtp:){0,3}$/i
/** The recipients of the mail: not all of them failed. */
const ADDRESSED_TO = /^\W{0,10}(?:to|cc|an|à|para|a)\s*:/i
/** A line that names another address than the one that failed. */
const NOT_ABOUT =
  /^\W{0,10}(?:(?:[\w-]{1,20} )?message[ -]id|identificativo|from|sender|mail from|reply-to|return-path|von|de|da|absender|expéditeur|remitente|отправитель)\b|mail from:|generated from/i

/** What precedes the sender's address. */
const SENT_BY = /(?:^|\s)(?:from|sent by|von|proveniente da|от)\s{1,20}["'<(]{0,3}$/i

/** A final or temporary answer of a server (RFC 5321 4.2), not a number of anything. */
const ANSWER = /(?<![\d.,/:#])(?:4[2-7]\d|5[0-7]\d)(?=[ -](?!hours?|days?|minutes?|bytes|characters|[km]b\b)|[:,)\]]|$)/
const ENHANCED_ANSWER = /#?(?<![\d.])[45]\.\d\.\d{1,3}(?!\.?\d)/

/**
 * What a mail says in words about a delivery that failed; undefined where it says nothing of the kind. Only for mail that
 * came from a mail server to the return path of a delivery, which it is therefore about.
 */
export function reportInText({ subject = '', text, parties = [] }: BounceText): TextReport | undefined {
  const { words, returned } = ownWords(text.slice(0, SEARCHED))
  const flat = `${subject} ${words}`.replace(/\s+/g, ' ')
  const announced = announcesFailure(flat)
  const sections = sectionsOf(words, parties)
  const all = sections.map(({ address, lines }) => ({
    address,
    reason: reasonIn(lines) ?? (sections.length === 1 ? reasonIn(words.split('\n')) : undefined),
  }))
  const explained = all.filter(({ reason }) => reason !== undefined)
  if (!announced && explained.length === 0) return undefined
  const delayed = announcesDelay(flat)
  // The subject of the mail that failed may say so, too: then there is a reason why it failed.
  const delivered = !delayed && explained.length === 0 && announcesDelivery(flat)
  const otherwise = delayed ? 'delayed' : delivered ? 'delivered' : 'failed'
  // Where a reason is given for some addresses, the others are of people to ask.
  const recipients = (explained.length > 0 ? explained : all).map(({ address, reason }): RecipientStatus => {
    const { status, diagnostic, final = false } = reason ?? {}
    return {
      ...(address !== undefined && { recipient: address }),
      action: final ? 'failed' : otherwise,
      ...(status !== undefined && { status }),
      ...(diagnostic !== undefined && { diagnostic }),
    }
  })
  const answered = all.some(({ reason }) => reason?.answered)
  return { kind: 'delivery', recipients, words: flat, announced, answered, returned }
}

/** The text ahead of the mail that it returns. */
function ownWords(text: string): { words: string; returned: boolean } {
  const whole = text.replace(/\r\n?/g, '\n')
  const fields = whole.search(FIELD)
  const ends = [whole.search(SAYS_SO), fields].filter((at) => at >= 0)
  return { words: ends.length === 0 ? whole : whole.slice(0, Math.min(...ends)), returned: fields >= 0 }
}

interface Section {
  readonly address: string | undefined
  readonly lines: string[]
}

/**
 * The text by the addresses that it is about: each from the line that begins with it, and the lines that mention it. If no
 * line begins with one, all of it is about the first address that it mentions.
 */
function sectionsOf(words: string, parties: readonly string[]): Section[] {
  const others = new Set(parties.map((party) => party.toLowerCase()))
  const lines = words.split('\n')
  const sections = new Map<string, Section & { readonly lines: string[] }>()
  let mentioned: string | undefined
  let addressed: string | undefined
  let open: Section | undefined
  for (const line of lines) {
    const found = addressesIn(line).filter(({ address }) => !others.has(address.toLowerCase()))
    const leading = found.find(({ before }) => LEADING.test(before))?.address
    if (ADDRESSED_TO.test(line)) addressed ??= found[0]?.address
    else mentioned ??= found[0]?.address
    if (leading !== undefined && sections.size < MAX_RECIPIENTS) open = sectionOf(leading)
    open?.lines.push(line)
    for (const { address } of found) {
      const known = sections.get(address.toLowerCase())
      if (known !== undefined && known !== open && known.lines.at(-1) !== line) known.lines.push(line)
    }
  }
  return sections.size > 0 ? withSharedReasons([...sections.values()]) : [{ address: mentioned ?? addressed, lines }]

  function sectionOf(address: string): Section {
    const key = address.toLowerCase()
    const section = sections.get(key) ?? { address, lines: [] }
    sections.set(key, section)
    return section
  }
}

/** Addresses that are listed one below another have the words below the last of them in common. */
function withSharedReasons(sections: readonly Section[]): Section[] {
  let shared: string[] | undefined
  return sections
    .toReversed()
    .map(({ address, lines }) => {
      const isBare = lines.every((line) => line.replace(ADDRESS, '').replace(/[\s<>"'():;,.]/g, '') === '')
      shared = isBare ? (shared ?? lines) : lines
      return { address, lines: shared }
    })
    .toReversed()
}

function addressesIn(line: string): { address: string; before: string }[] {
  if (!line.includes('@') || NOT_ABOUT.test(line)) return []
  const found = [...line.matchAll(ADDRESS)].map((match) => ({ address: match[0], before: line.slice(0, match.index) }))
  // Of the only address "from" and its like may also say whose the mailbox is.
  const isSender = (before: string, place: number) => place < found.length - 1 && SENT_BY.test(before)
  return found.filter(({ address, before }, place) => !address.startsWith('*') && !isSender(before, place))
}

interface Reason {
  readonly status: string | undefined
  readonly diagnostic: string
  /** It has the code of an answer. */
  readonly answered: boolean
  /** The answer is a permanent one. */
  readonly final: boolean
}

/** Why a delivery failed: the answer of a server if there is one, with the words around it where it does not say why. */
function reasonIn(lines: readonly string[]): Reason | undefined {
  const at = [ENHANCED_ANSWER, ANSWER].map((code) => lines.findIndex((line) => code.test(line))).find((i) => i >= 0)
  const prose = joined(lines)
  if (at === undefined) return namesCause({ diagnostic: prose }) ? { ...said(prose), answered: false } : undefined
  const first = lines[at] ?? ''
  const starts = [first.search(ANSWER), first.search(ENHANCED_ANSWER)].filter((index) => index >= 0)
  const end = lines.findIndex((line, index) => index > at && line.trim() === '')
  const answer = joined([first.slice(Math.min(...starts)), ...lines.slice(at + 1, end < 0 ? undefined : end)])
  const explained = namesCause({ diagnostic: answer }) ? answer : `${answer} ${prose}`.slice(0, MAX_DIAGNOSTIC)
  return { ...said(explained), answered: true }
}

function said(diagnostic: string): { status: string | undefined; diagnostic: string; final: boolean } {
  const status = enhancedStatusIn(diagnostic)
  return { status, diagnostic, final: status?.startsWith('5') || /^5\d\d/.test(diagnostic) }
}

function joined(lines: readonly string[]): string {
  return lines.join(' ').replace(/\s+/g, ' ').trim().slice(0, MAX_DIAGNOSTIC)
}
