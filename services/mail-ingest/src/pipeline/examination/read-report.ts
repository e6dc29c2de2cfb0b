import { LIMITS } from '@restante/contracts/vocabulary'
import {
  type DeliveryReport,
  type ParserPool,
  type ReadMail,
  type RecipientStatus,
  type Report,
  reportInText,
} from '@restante/mime'
import type { LeasedMail } from '../queue/queue.ts'
import { readLeased } from './parse-mail.ts'

/**
 * The delivery or complaint report in a mail to a return path (events 1.3): a complaint from anyone, a failure from a mail
 * system only, in a form of reports or in its usual words. Undefined for anything else (an automatic answer,
 * backscatter), and for mail that cannot be read after three attempts or in time: it is dropped.
 */
export async function readReport(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<Report | undefined> {
  if (mail.attempts > LIMITS.inbound.attempts || mail.overdue) return undefined
  const read = await readLeased(mail, raw, parser)
  if (read.report?.kind === 'feedback') return read.report
  if (!isFromMailSystem(mail, read)) return undefined
  const inText = reportInText({ subject: read.subject, text: read.searchText })
  if (read.report !== undefined) return withReason(read.report, inText)
  // Mail servers call their reports automatic replies, too (RFC 3834). But where there is no code either, the known words
  // may be those of the mail that is answered, in its subject.
  const isReply = read.automation.autoSubmitted === 'auto-replied' && !inText?.recipients.some(hasReason)
  return isReply ? undefined : inText
}

/** A report whose fields give no reason, as the header of Exim and Google, has that of its words (events 1.3). */
function withReason(report: DeliveryReport, inText: DeliveryReport | undefined): DeliveryReport {
  const [named] = inText?.recipients ?? []
  if (named === undefined || report.recipients.some(hasReason)) return report
  const { status, diagnostic } = named
  const reason = { ...(status !== undefined && { status }), ...(diagnostic !== undefined && { diagnostic }) }
  return { ...report, recipients: report.recipients.map((recipient) => ({ ...recipient, ...reason })) }
}

function hasReason({ status, diagnostic }: RecipientStatus): boolean {
  return (status ?? diagnostic) !== undefined
}

function isFromMailSystem({ envelope }: LeasedMail, { author }: ReadMail): boolean {
  const { mail_from } = envelope
  return (
    mail_from === '' || [mail_from, author ?? ''].some((address) => /^(?:mailer-daemon|postmaster)@/i.test(address))
  )
}
