import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { dayOf } from './series.ts'
import { dropPartitions } from './settle.ts'

const EVERY_MS = 3_600_000
/** How long points are kept: a rate reaches back by its window, from the oldest point that may be asked for. */
export const RETAINED_MS = LIMITS.metrics.reach + LIMITS.metrics.window.max * 1_000

const FORGET_ENTITIES = sql<never>(`
delete from entities where deleted_at < now() - interval '120 days' and (purged or kind = 'domain')`)
// A rebuild never begins before what is kept.
const FORGET_ADJUSTMENTS = sql<never, [before: number]>('delete from adjustments where day < $1::int')

/** Drops runs of which nothing can be asked any more, a partition at a time. Running totals stay. */
export class RetentionSweeper extends Periodic {
  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({
      name: 'retention',
      everyMs: EVERY_MS,
      log,
      work: async () => {
        const before = dayOf(Date.now() - RETAINED_MS)
        const dropped = await dropPartitions(db, before)
        if (dropped.length > 0) log.info({ partitions: dropped }, 'metrics older than their retention dropped')
        await db.query(FORGET_ADJUSTMENTS, before)
        await db.query(FORGET_ENTITIES)
      },
    })
  }
}
