import { type Database, sql } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { RawMailBytes } from './bytes.ts'

/** An older reservation is unused (`ReservedNames`): its process died, or its mail was not accepted. */
const UNUSED = sql<{ blob: string }, [rows: number]>(`
select blob from raw_mails
 where refs = 0 and (size > 0 or updated_at < now() - interval '6 hours')
 order by updated_at
 limit $1
   for update skip locked`)

const BATCH = 50
const EVERY_MS = 5_000

/**
 * Deletes raw mails without references.
 */
export class RawMailSweeper implements Component {
  readonly name = 'raw mail sweeper'
  readonly #db: Database
  readonly #bytes: RawMailBytes
  readonly #job: Periodic

  constructor(options: { db: Database; bytes: RawMailBytes; log: Logger }) {
    this.#db = options.db
    this.#bytes = options.bytes
    this.#job = new Periodic({ name: this.name, everyMs: EVERY_MS, log: options.log, work: () => this.sweep() })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  /** Waits for the current run to end. */
  stop(): Promise<void> {
    return this.#job.stop()
  }

  /** Runs a sweep soon, because bytes may have become unused. */
  readonly notify = (): void => this.#job.notify()

  /** @returns how many blobs were deleted. */
  async sweep(): Promise<number> {
    for (let deleted = 0; ; ) {
      const batch = await this.#sweepBatch()
      deleted += batch
      if (batch < BATCH) return deleted
    }
  }

  #sweepBatch(): Promise<number> {
    return this.#db.transaction(async (tx) => {
      const unused = (await tx.query(UNUSED, BATCH)).map((row) => row.blob)
      await this.#bytes.delete(tx, unused)
      return unused.length
    })
  }
}
