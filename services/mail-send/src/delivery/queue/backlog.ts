import { type Queryable, sqlUnprepared } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'

const waiting = new Gauge({
  name: 'restante_delivery_queue_waiting',
  help: 'Deliveries that are not finished, for the 20 destinations with most of them, and for all `other` ones together; every process reports the same value',
  labelNames: ['destination'],
})
const oldestSeconds = new Gauge({
  name: 'restante_delivery_queue_oldest_seconds',
  help: 'Time since the message of the oldest unfinished delivery was accepted, by destination as above; 0 when there is none',
  labelNames: ['destination'],
})

/** Few enough for a label. */
const NAMED = 20
const EVERY_MS = 15_000

interface BacklogRow {
  readonly destination: string
  readonly waiting: number
  readonly seconds: number
}

// Reads `deliveries_waiting_idx` and no row: 200,000 entries take a fraction of a second.
const MEASURE = sqlUnprepared<BacklogRow>(`
with waiting as materialized (
  select destination, count(*)::int as waiting, min(queued_at) as oldest
    from deliveries where state in ('queued', 'handing_over', 'deferred')
   group by destination
), named as materialized (
  select destination, waiting, oldest from waiting order by waiting desc, destination limit ${NAMED}
)
select destination, waiting, extract(epoch from now() - oldest)::float8 as seconds from named
 union all
select 'other', coalesce(sum(waiting), 0)::int, coalesce(extract(epoch from now() - min(oldest)), 0)::float8
  from waiting where destination not in (select destination from named)`)

/** Reports as metrics how much waits for delivery, and since when. */
export class DeliveryBacklog extends Periodic {
  constructor({ db, log }: { readonly db: Queryable; readonly log: Logger }) {
    super({
      name: 'delivery backlog',
      everyMs: EVERY_MS,
      log,
      work: () => measureBacklog(db),
    })
  }
}

/** Measures once. A destination that has left the first 20 must not keep its last value. */
export async function measureBacklog(db: Queryable): Promise<void> {
  const rows = await db.query(MEASURE)
  waiting.reset()
  oldestSeconds.reset()
  for (const { destination, waiting: count, seconds } of rows) {
    waiting.set({ destination }, count)
    oldestSeconds.set({ destination }, Math.max(0, seconds))
  }
}
