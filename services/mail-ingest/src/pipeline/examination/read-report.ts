import { LIMITS } from '@restante/contracts/vocabulary'
import { type ParserPool, type ReadMail, type Report, reportInText } from '@restante/mime'
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
  return read.report ?? reportInText({ subject: read.subject, text: read.searchText })
}

function isFromMailSystem({ envelope }: LeasedMail, { author }: ReadMail): boolean {
  const { mail_from } = envelope
  return (
    mail_from === '' || [mail_from, author ?? ''].some((address) => /^(?:mailer-daemon|postmaster)@/i.test(address))
  )
}
