import { reportInText, type TextReport } from './bounce-text.ts'
import { namesCause } from './classify.ts'
import type { DeliveryReport, RecipientStatus, Report } from './report.ts'
import { announcesAbsence } from './words/announcements.ts'

/** What is read of a mail to a return path. */
export interface ReturnedMail {
  readonly report?: Report
  /** The address of the one author. */
  readonly author?: string
  /** The author as it is shown. */
  readonly from: string
  readonly to: readonly string[]
  readonly subject?: string
  readonly text?: string
  /** The text of its html, where it has no other. */
  readonly searchText: string
  readonly attachments: readonly { readonly contentType: string }[]
  readonly automation: { readonly autoSubmitted?: string; readonly precedence?: string; readonly list: boolean }
}

/** Local parts and names that only mail servers use. */
const SERVER_ADDRESS =
  /^(?:mail(?:er)?[-_.]?daemon|mdaemon|mail-?system|posta-certificata|microsoftexchange[0-9a-f]{8,})@/i
const SERVER_NAME = /\b(?:mail(?:er)?[- ]?daemon|(?:mail )?delivery (?:sub)?system|internet mail delivery)\b/i
/** Those that people use too. */
const ROLE_ADDRESS = /^post[-_]?master@/i
/** People answer under the subject of the mail. */
const ANSWER = /^\s*(?:re|aw|antw|sv|vs|odp|r|res|rif|ynt|回复|答复|回覆|答覆|返信)\s*[:：]/i
const ROLE_NAME = /^["'<\s]{0,5}(?:the )?(?:system administrator|postmaster)\b/i

/**
 * The delivery or complaint report in a mail to a return path (events 1.3): a complaint from anyone, a failure from a mail
 * system only, in a form of reports or in its usual words. Undefined for anything else (an automatic answer, backscatter).
 * @param mailFrom the envelope sender, empty for the null sender
 */
export function reportToReturnPath(mail: ReturnedMail, mailFrom: string): Report | undefined {
  if (mail.report?.kind === 'feedback') return mail.report
  if (mailFrom !== '' && !isSystem(mailFrom, mail)) return undefined
  const { subject, searchText, author = '', to } = mail
  const words = mail.text?.trim() ? mail.text : searchText
  const text = reportInText({ subject, text: words, parties: [author, mailFrom, ...to] })
  if (mail.report !== undefined) return withWords(mail.report, text)
  if (text === undefined) return undefined
  return (isSystem(mailFrom, mail) ? saysSo(mailFrom, mail, text) : returnsMail(mail, text))
    ? withoutMarks(text)
    : undefined
}

function isSystem(mailFrom: string, mail: ReturnedMail): boolean {
  const { author = '', from } = mail
  return isServer(mailFrom, mail) || [mailFrom, author].some((each) => ROLE_ADDRESS.test(each)) || ROLE_NAME.test(from)
}

function isServer(mailFrom: string, { author = '', from }: ReturnedMail): boolean {
  return [mailFrom, author].some((address) => SERVER_ADDRESS.test(address)) || SERVER_NAME.test(from)
}

/**
 * A mail server announces a failure, or names a cause in the answer of another, or returns the mail with one. It may call
 * its report an automatic reply (RFC 3834); but where it neither gives a reason nor returns the mail, the known words may
 * be those of the answered mail's subject. A person who is away returns no mail, either. Nor does a postmaster who opens a
 * ticket, and a ticket names no address.
 */
function saysSo(mailFrom: string, mail: ReturnedMail, text: TextReport): boolean {
  const returned = text.returned || encloses(mail, RETURNED)
  const isByServer = isServer(mailFrom, mail)
  const isAbout = isByServer || text.recipients.some(({ recipient }) => recipient !== undefined)
  // The subject of the mail that failed may speak of an absence, too.
  const isAway = announcesAbsence(text.words) && !(text.answered && isByServer)
  if (!returned && (!isAbout || isAway)) return false
  const caused = text.recipients.some(namesCause)
  if (!isByServer && !returned && !caused && ANSWER.test(mail.subject ?? '')) return false
  if (text.announced) return mail.automation.autoSubmitted !== 'auto-replied' || caused || text.answered || returned
  return caused && (returned || (text.answered && isByServer))
}

/**
 * An answer from the null sender may also be a vacation notice or a read receipt (RFC 8098). Only a mail server returns the
 * mail and gives a reason.
 */
function returnsMail(mail: ReturnedMail, text: TextReport): boolean {
  const { autoSubmitted, precedence, list } = mail.automation
  if (autoSubmitted !== undefined || precedence !== undefined || list || encloses(mail, RECEIPT)) return false
  if (announcesAbsence(text.words)) return false
  const reasoned = text.answered || text.recipients.some(namesCause)
  return text.announced && reasoned && (text.returned || encloses(mail, RETURNED))
}

const RETURNED = /^(?:message\/(?:rfc822|global)|text\/rfc822-headers)/
const RECEIPT = /^message\/disposition-notification$/

function encloses({ attachments }: ReturnedMail, type: RegExp): boolean {
  return attachments.some(({ contentType }) => type.test(contentType))
}

/** What fields leave open is taken from the words: the reason, the addresses, and whether it is only a delay. */
function withWords(report: DeliveryReport, text: TextReport | undefined): DeliveryReport {
  if (text === undefined) return report
  const [only, ...others] = report.recipients
  if (others.length === 0 && only?.action === 'failed' && only.recipient === undefined)
    return { ...report, recipients: text.recipients.map((recipient) => ({ ...recipient, action: 'failed' as const })) }
  return { ...report, recipients: report.recipients.map((recipient) => withReason(recipient, report, text)) }
}

function withReason(recipient: RecipientStatus, report: DeliveryReport, text: TextReport): RecipientStatus {
  if (recipient.action !== 'failed' || namesCause(recipient)) return recipient
  const same = text.recipients.find(({ recipient: address }) => isSame(address, recipient))
  const words = same ?? (report.recipients.length === 1 ? text.recipients[0] : undefined)
  if (words === undefined) return recipient
  const isBare = recipient.status === undefined && recipient.diagnostic === undefined
  if (isBare) return { ...words, ...recipient, action: words.action }
  return namesCause(words) ? { ...recipient, diagnostic: words.diagnostic ?? '' } : recipient
}

function isSame(address: string | undefined, { recipient, originalRecipient }: RecipientStatus): boolean {
  return [recipient, originalRecipient].some((known) => known?.toLowerCase() === address?.toLowerCase())
}

function withoutMarks({ kind, recipients }: TextReport): DeliveryReport {
  return { kind, recipients }
}
