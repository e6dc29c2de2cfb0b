import { reportInText, type TextReport } from './bounce-text.ts'
import { namesCause } from './classify.ts'
import type { DeliveryReport, RecipientStatus, Report } from './report.ts'

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

/** Local parts and names under which mail servers write. */
const SYSTEM_ADDRESS =
  /^(?:mail(?:er)?[-_.]?daemon|post[-_]?master|mdaemon|mail-?system|microsoftexchange[0-9a-f]{8,})@/i
const SYSTEM_NAME =
  /\b(?:mail(?:er)?[- ]?daemon|(?:mail )?delivery (?:sub)?system|internet mail delivery|system administrator|postmaster)\b/i

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
  return (isSystem(mailFrom, mail) ? saysSo(mail, text) : returnsMail(mail, text)) ? withoutMarks(text) : undefined
}

function isSystem(mailFrom: string, { author = '', from }: ReturnedMail): boolean {
  return [mailFrom, author].some((address) => SYSTEM_ADDRESS.test(address)) || SYSTEM_NAME.test(from)
}

/**
 * A mail server announces a failure, or names a cause in the answer of another, or returns the mail with one. It may call
 * its report an automatic reply (RFC 3834); but where it gives no reason, the known words may be those of the mail that is
 * answered, in its subject.
 */
function saysSo(mail: ReturnedMail, text: TextReport): boolean {
  const caused = text.recipients.some(namesCause)
  if (text.announced) return mail.automation.autoSubmitted !== 'auto-replied' || caused || text.answered
  return caused && (text.answered || text.returned || encloses(mail, RETURNED))
}

/**
 * An answer from the null sender may also be a vacation notice or a read receipt (RFC 8098). Only a mail server returns the
 * mail and gives a reason.
 */
function returnsMail(mail: ReturnedMail, text: TextReport): boolean {
  const { autoSubmitted, precedence, list } = mail.automation
  if (autoSubmitted !== undefined || precedence !== undefined || list || encloses(mail, RECEIPT)) return false
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
