import { blamingHeavyStatements, type Queryable, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

/**
 * Marks events as processed by a consumer, and returns those that were not marked before. Waits for a concurrent
 * transaction that marks the same event.
 */
export const MARK = sql<{ event_id: string }, [consumer: string, ids: readonly string[]]>(`
insert into consumed (consumer, event_id)
select $1, event_id from unnest($2::text[]) as fresh(event_id) order by event_id
on conflict do nothing
returning event_id`)

/** Marks events as processed by a consumer. @returns the ids of those that were not marked before. */
export async function markEvents(tx: Tx, consumer: string, ids: readonly string[]): Promise<Set<string>> {
  const marked = await tx.query(MARK, consumer, ids)
  return new Set(marked.map(({ event_id }) => event_id))
}

/** An early check, before outside work is done for an event; the mark itself decides. */
export const IS_MARKED = sql<{ marked: boolean }, [consumer: string, id: string]>(
  'select exists (select from consumed where consumer = $1 and event_id = $2) as marked',
)

const SMALL_WRITE = sql<never, [consumer: string]>(`
insert into consumed (consumer, event_id) values ($1, 'small write')
on conflict (consumer, event_id) do update set consumed_at = now()`)

/**
 * Does work about one event. Where a statement of it takes too long although the database answers, the event is at fault.
 * @throws HeavyStatementError, which is no outage.
 */
export function blamingEvent<T>(db: Queryable, consumer: string, work: () => Promise<T>): Promise<T> {
  return blamingHeavyStatements(work, async () => void (await db.query(SMALL_WRITE, consumer)))
}

const SWEEP = sql<{ consumer: string }, [rows: number]>(`
delete from consumed
 where (consumer, event_id) in (select consumer, event_id from consumed
                                 where consumed_at < now() - interval '21 days'
                                 order by consumed_at limit $1)
returning consumer`)

const SWEEP_ROWS = 5_000
const SWEEP_EVERY_MS = 3_600_000

/** Removes marks after 21 days: longer than any topic or dead letter keeps the event that they guard against. */
export class MarkSweeper extends Periodic {
  constructor(options: { db: Queryable; log: Logger }) {
    const work = (stopping: AbortSignal) => sweepMarks(options.db, stopping)
    super({ name: 'mark sweeper', everyMs: SWEEP_EVERY_MS, log: options.log, work })
  }
}

/** @returns how many marks were removed. */
export async function sweepMarks(db: Queryable, stopping: AbortSignal): Promise<number> {
  for (let swept = 0; ; ) {
    const rows = await db.query(SWEEP, SWEEP_ROWS)
    swept += rows.length
    if (rows.length < SWEEP_ROWS || stopping.aborted) return swept
  }
}
