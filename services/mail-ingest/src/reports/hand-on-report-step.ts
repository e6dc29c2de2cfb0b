import { LIMITS, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import type { ParserPool } from '@restante/mime'
import type { Db } from '../database.ts'
import { type LeasedMail, queue } from '../pipeline/queue.ts'
import { rawMails } from '../raw/store.ts'
import { feedbackEvent } from './feedback-events.ts'

export interface ReportOptions {
  readonly db: Db
  readonly outbox: Outbox
  readonly parser: ParserPool
}

/**
 * Hands on what came to a return path: a delivery or complaint report becomes an event, anything else (an automatic
 * answer, backscatter) is dropped, and so is what cannot be read after three attempts. Nothing of it is kept.
 * @returns what it was, for the log.
 */
export async function handOnReport(
  mail: LeasedMail,
  deliveryId: string,
  raw: Buffer,
  { db, outbox, parser }: ReportOptions,
): Promise<'reported' | 'no_report'> {
  const readable = mail.attempts <= LIMITS.inbound.attempts
  const report = readable ? (await parser.read(raw)).report : undefined
  await db.transaction(async (tx) => {
    await queue.finish(tx, mail)
    await rawMails.release(tx, [mail.blob])
    if (!report) return
    const event = feedbackEvent(report, { deliveryId, receivedAt: mail.receivedAt })
    await outbox.add(tx, topics['mail.feedback'], event)
  })
  return report ? 'reported' : 'no_report'
}
