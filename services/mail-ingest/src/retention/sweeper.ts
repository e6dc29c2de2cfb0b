import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { FORGET_DMARC } from '../dmarc/store.ts'
import { FORGET_DELETED_ENTRIES } from '../lists/store.ts'

/** Longer than deliveries are retried (72 h), and longer than a topic or dead letter can deliver their events again. */
const FORGET = '21 days'

const TOMBSTONES = sql<{ message_id: string }, [rows: number]>(`
delete from tombstones
 where (inbox_uid, message_id) in (select inbox_uid, message_id from tombstones
                                    where deleted_at < now() - interval '${FORGET}' limit $1)
returning message_id`)
const DELIVERY_EVENTS = sql<{ event_id: string }, [rows: number]>(`
delete from pending_delivery_events
 where event_id in (select event_id from pending_delivery_events where time < now() - interval '${FORGET}' limit $1)
returning event_id`)

// A mail that was in transit when its organization was deleted has added such a row afterwards.
const LATE_MAIL = sql<{ organization_id: string }, [rows: number]>(`
delete from receiving_organizations
 where organization_id in (select receiving.organization_id from receiving_organizations as receiving
                            join deleted_scopes on id = receiving.organization_id and kind = 'organization' limit $1)
returning organization_id`)

const REMEMBERED_SECONDS = LIMITS.retention.rememberedId / 1_000
const REMEMBERED_IDS = sql<{ id: string }, [rows: number]>(`
delete from remembered_ids
 where ctid = any(array(select ctid from remembered_ids
                         where remembered_at < now() - interval '${REMEMBERED_SECONDS} seconds' limit $1))
returning id`)
const FAILING_DOMAINS = sql<{ domain: string }, [rows: number]>(`
delete from failing_domains
 where domain in (select domain from failing_domains where seen_at < now() - interval '1 day' limit $1)
returning domain`)

const BATCH = 1_000
const EVERY_MS = 3_600_000

/**
 * Deletes records of deleted messages and list entries, and events about messages that never arrived, after 21 days; ids that mails
 * referred to without a match after 30 days; counts of DMARC reports after 90 days, or with their domain; and the records
 * of organizations that were deleted while mail was in transit.
 */
export class RetentionSweeper implements Component {
  readonly name = 'retention sweeper'
  readonly #db: Database
  readonly #job: Periodic

  constructor(options: { db: Database; log: Logger }) {
    this.#db = options.db
    this.#job = new Periodic({ name: this.name, everyMs: EVERY_MS, log: options.log, work: () => this.forget() })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  /** Waits for the current run to end. */
  stop(): Promise<void> {
    return this.#job.stop()
  }

  async forget(): Promise<void> {
    const all = [
      TOMBSTONES,
      DELIVERY_EVENTS,
      LATE_MAIL,
      REMEMBERED_IDS,
      FAILING_DOMAINS,
      FORGET_DELETED_ENTRIES,
      ...FORGET_DMARC,
    ] as const
    for (const statement of all) {
      while ((await this.#db.query<unknown, [number]>(statement, BATCH)).length === BATCH);
    }
  }
}
