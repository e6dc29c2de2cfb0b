import { Gauge } from 'prom-client'
import { Periodic } from '../process/periodic.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Queryable, Statement } from './statement.ts'

const waiting = new Gauge({
  name: 'restante_purges_waiting',
  help: 'Deleted but not yet purged, by kind: inbox, organization; every process of a service reports the same value',
  labelNames: ['of'],
})
const oldestSeconds = new Gauge({
  name: 'restante_purges_oldest_seconds',
  help: 'Time since the deletion of the oldest entry that is not purged yet; 0 when there is none',
  labelNames: ['of'],
})

/** One row per kind, including kinds with an empty backlog. */
export interface PurgesWaiting {
  readonly of: 'inbox' | 'organization'
  readonly waiting: number
  /** Since the oldest entry was deleted; 0 when there is none. */
  readonly seconds: number
}

const EVERY_MS = 3_000

/** Reports as metrics how much a service still has to purge, and how long the oldest entry has waited. */
export class PurgeBacklog extends Periodic {
  constructor(options: {
    readonly db: Queryable
    readonly log: Logger
    readonly measure: Statement<PurgesWaiting, []>
  }) {
    const { db, log, measure } = options
    super({
      name: 'purge backlog',
      everyMs: EVERY_MS,
      log,
      work: async () => {
        for (const row of await db.query(measure)) {
          waiting.set({ of: row.of }, row.waiting)
          oldestSeconds.set({ of: row.of }, row.seconds)
        }
      },
    })
  }
}
