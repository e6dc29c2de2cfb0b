import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const SECONDS = LIMITS.retention.tombstone / 1_000
const BATCH = 1_000
const EVERY_MS = 3_600_000

const FORGET = sql<{ id: string }, [rows: number]>(`
delete from deleted_scopes
 where (id, kind) in (select id, kind from deleted_scopes
                       where deleted_at < now() - interval '${SECONDS} seconds' and ended_at is not null limit $1)
returning id`)

/** Deletes tombstones once neither a delivery nor a late event about their scope is possible any more. */
export class TombstoneSweeper extends Periodic {
  readonly #db: Database

  constructor({ db, log }: { db: Database; log: Logger }) {
    super({ name: 'tombstone sweeper', everyMs: EVERY_MS, log, work: () => this.sweep() })
    this.#db = db
  }

  /** Deletes all tombstones that are old enough, in batches. */
  async sweep(): Promise<void> {
    while ((await this.#db.query(FORGET, BATCH)).length === BATCH);
  }
}
