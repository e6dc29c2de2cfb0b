import { Timers } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { Database } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { tellBoundaries } from '../../src/boundaries/index.ts'
import type { CalendarTimers } from '../../src/timers/kinds.ts'

/** What a process of the tests works with. */
export interface BoundaryProcessOptions {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly prefix: string
}

/** The part of a calendar service that tells of boundaries. */
export class BoundaryProcess {
  readonly db: Database
  readonly timers: Timers<CalendarTimers>

  constructor({ databaseUrl, redisUrl, prefix }: BoundaryProcessOptions) {
    const log = createLogger({ service: 'calendar-test', level: 'silent' })
    this.db = new Database({ url: databaseUrl, applicationName: 'calendar-test' })
    this.timers = new Timers<CalendarTimers>({
      db: this.db,
      redis: { url: redisUrl, prefix },
      log,
      pollMs: 50,
      drainMs: 2_000,
    })
    tellBoundaries({ db: this.db, timers: this.timers, outbox: new Outbox({ db: this.db, service: 'calendar' }) })
  }

  async stop(): Promise<void> {
    await this.timers.stop()
    await this.db.stop()
  }
}
