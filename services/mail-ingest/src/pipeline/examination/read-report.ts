import { LIMITS } from '@restante/contracts/vocabulary'
import { type ParserPool, type Report, reportToReturnPath } from '@restante/mime'
import type { LeasedMail } from '../queue/queue.ts'
import { readLeased } from './parse-mail.ts'

/**
 * The delivery or complaint report in a mail to a return path. Undefined for anything else, and for mail that cannot be
 * read after three attempts or in time: it is dropped.
 */
export async function readReport(mail: LeasedMail, raw: Buffer, parser: ParserPool): Promise<Report | undefined> {
  if (mail.attempts > LIMITS.inbound.attempts || mail.overdue) return undefined
  return reportToReturnPath(await readLeased(mail, raw, parser), mail.envelope.mail_from)
}
