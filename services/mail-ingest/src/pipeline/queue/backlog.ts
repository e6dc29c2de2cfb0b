import { type Queryable, sqlUnprepared } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'

const waiting = new Gauge({
  name: 'restante_mail_queue_waiting',
  help: 'Accepted mails that are not processed yet, at most 100,000; every process of the service reports the same',
})
const oldestSeconds = new Gauge({
  name: 'restante_mail_queue_oldest_seconds',
  help: 'Time since the acceptance of the oldest of these mails; 0 when there is none',
})

const EVERY_MS = 5_000
const MOST = 100_000

const MEASURE = sqlUnprepared<{ waiting: number; seconds: number }>(`
select count(*)::int as waiting, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as seconds
  from (select received_at from inbound limit ${MOST}) as queued`)

/** Reports as metrics how much accepted mail waits for the pipelines, and since when. */
export class InboundBacklog extends Periodic {
  constructor({ db, log }: { readonly db: Queryable; readonly log: Logger }) {
    super({ name: 'inbound backlog', everyMs: EVERY_MS, log, work: () => measureInbound(db) })
  }
}

/** Measures once. */
export async function measureInbound(db: Queryable): Promise<void> {
  const [queued] = await db.query(MEASURE)
  waiting.set(queued?.waiting ?? 0)
  oldestSeconds.set(Math.max(0, queued?.seconds ?? 0))
}
