import { type Queryable, sqlUnprepared } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'

const waiting = new Gauge({
  name: 'restante_webhook_queue_waiting',
  help: 'Deliveries that are open, at most 100,000, by state: new (no request has failed yet), retrying; every process reports the same',
  labelNames: ['state'],
})
const oldestSeconds = new Gauge({
  name: 'restante_webhook_queue_oldest_seconds',
  help: 'Time since the creation of the oldest of the new ones; 0 when there is none',
})

const EVERY_MS = 5_000
const MOST = 100_000

const MEASURE = sqlUnprepared<{ fresh: number; retrying: number; seconds: number }>(`
select count(*) filter (where attempts = 0)::int as fresh, count(*) filter (where attempts > 0)::int as retrying,
       coalesce(extract(epoch from now() - min(created_at) filter (where attempts = 0)), 0)::float8 as seconds
  from (select attempts, created_at from deliveries limit ${MOST}) as open`)

/** Reports as metrics how many deliveries are open, and how long a first request has been due. */
export class WebhookBacklog extends Periodic {
  constructor({ db, log }: { readonly db: Queryable; readonly log: Logger }) {
    super({ name: 'webhook backlog', everyMs: EVERY_MS, log, work: () => measureWebhooks(db) })
  }
}

/** Measures once. */
export async function measureWebhooks(db: Queryable): Promise<void> {
  const [open] = await db.query(MEASURE)
  waiting.set({ state: 'new' }, open?.fresh ?? 0)
  waiting.set({ state: 'retrying' }, open?.retrying ?? 0)
  oldestSeconds.set(Math.max(0, open?.seconds ?? 0))
}
