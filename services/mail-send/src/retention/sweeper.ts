import type { BlobStore } from '@restante/blobs'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql, type Tx } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { outboundBlob } from '../delivery/outbound/sends.ts'
import { FORGET_REFUSALS } from '../delivery/outcome/suppressions.ts'
import { FORGET_POLICIES } from '../delivery/routes/mta-sts/store.ts'
import { FORGET_WARM_UP_COUNTS } from '../delivery/warm-up/warm-up.ts'
import { fileBlob } from '../files/store.ts'
import { FORGET_CHARGES } from '../invitations/charges.ts'
import { FORGET_REPUTATIONS } from '../reputation/counts.ts'
import { FORGET_RAMPS } from '../sending/acceptance/new-recipients.ts'
import { takeOvers } from '../take-overs/table.ts'

/** How long the bytes of a finished message are kept: as long as the event that names them may still be read. */
const CONTENT_SECONDS = LIMITS.retention.topic / 1_000
/** How long a delivery is kept, for late reports. */
const RECORD_SECONDS = LIMITS.retention.delivery / 1_000
const CODE_MAIL_SECONDS = LIMITS.retention.codeMail / 1_000
const EVERY_MS = 10 * 60_000
const ROWS = 200

// The row of an accepted message belongs to a repeated call, and its blob is in use.
const NOT_PENDING = sql<never>(
  'delete from pending_blobs where exists (select from sends where sends.id = pending_blobs.send_id)',
)
const PENDING = sql<{ id: string }, [rows: number]>(`
select send_id as id from pending_blobs
 where created_at < now() - interval '1 hour'
   and not exists (select from sends where sends.id = pending_blobs.send_id)
 order by created_at limit $1 for update skip locked`)
const FORGET_PENDING = sql<never, [ids: readonly string[]]>('delete from pending_blobs where send_id = any($1::uuid[])')

const UNKEPT = sql<{ id: string }, [rows: number]>(`
select id from files
 where draft_id is null and touched_at < now() - interval '1 hour'
 order by touched_at limit $1 for update skip locked`)
const FORGET_FILES = sql<never, [ids: readonly string[]]>('delete from files where id = any($1::uuid[])')

const FINISHED = sql<{ id: string }, [rows: number]>(`
select id from sends
 where dropped_at is null and accepted_at < now() - interval '${CONTENT_SECONDS} seconds'
   and not exists (select from deliveries d
                    where d.send_id = sends.id and d.state in ('queued', 'handing_over', 'deferred'))
 order by accepted_at limit $1 for update skip locked`)
const DROPPED = sql<never, [ids: readonly string[]]>(
  'update sends set dropped_at = now(), copy = null where id = any($1::uuid[])',
)

// Mail of the installation itself: there is no further event about it, and no organization whose deletion would remove
// it.
const CODE_MAILS = sql<{ id: string }, [rows: number]>(`
select id from sends
 where organization_id is null and accepted_at < now() - interval '${CODE_MAIL_SECONDS} seconds'
   and not exists (select from deliveries d
                    where d.send_id = sends.id and d.state in ('queued', 'handing_over', 'deferred'))
 limit $1 for update skip locked`)
const FORGET_SENDS = sql<never, [ids: readonly string[]]>('delete from sends where id = any($1::uuid[])')

const DELETE_OLD = [
  `delete from sends where id in (select id from sends
    where dropped_at is not null and accepted_at < now() - interval '${RECORD_SECONDS} seconds' limit $1)
   returning 1 as one`,
  `delete from idempotency_keys where (organization_id, key) in (select organization_id, key from idempotency_keys
    where coalesce(completed_at + interval '${LIMITS.idempotency.kept / 1_000} seconds', leased_until) <= now() limit $1)
   returning 1 as one`,
  `delete from send_counts where ctid = any(array(
    select ctid from send_counts where starts_at + make_interval(secs => window_seconds) < now() - interval '1 hour' limit $1))
   returning 1 as one`,
  FORGET_REFUSALS,
  FORGET_POLICIES,
  FORGET_WARM_UP_COUNTS,
  `delete from take_overs where organization_id in (
    select organization_id from take_overs where ${takeOvers.isOld} limit $1) returning 1 as one`,
  FORGET_CHARGES,
  ...FORGET_RAMPS,
  ...FORGET_REPUTATIONS,
].map((text) => sql<{ one: number }, [rows: number]>(text))

export interface SweeperOptions {
  readonly db: Database
  readonly blobs: BlobStore
  readonly log: Logger
}

/** Removes what is no longer needed: content, keys, counts, and blobs of messages that were never accepted. */
export class Sweeper implements Component {
  readonly name = 'retention'
  readonly #options: SweeperOptions
  readonly #job: Periodic

  constructor(options: SweeperOptions) {
    this.#options = options
    const work = (stopping: AbortSignal) => this.sweep(stopping)
    this.#job = new Periodic({ name: this.name, everyMs: EVERY_MS, log: options.log, work })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  /** Waits until the current run has ended after its batch. */
  stop(): Promise<void> {
    return this.#job.stop()
  }

  /** One run over everything. */
  async sweep(stopping?: AbortSignal): Promise<void> {
    const { db } = this.#options
    await db.query(NOT_PENDING)
    await this.#whileFull(stopping, () => db.transaction((tx) => this.#dropBlobs(tx, PENDING, FORGET_PENDING)))
    await this.#whileFull(stopping, () => db.transaction((tx) => this.#dropBlobs(tx, UNKEPT, FORGET_FILES, fileBlob)))
    await this.#whileFull(stopping, () => db.transaction((tx) => this.#dropBlobs(tx, FINISHED, DROPPED)))
    await this.#whileFull(stopping, () => db.transaction((tx) => this.#dropBlobs(tx, CODE_MAILS, FORGET_SENDS)))
    for (const statement of DELETE_OLD)
      await this.#whileFull(stopping, async () => (await db.query(statement, ROWS)).length)
  }

  /** Rows stay locked in the meantime, so that a blob is deleted before its row and by one process only. */
  async #dropBlobs(
    tx: Tx,
    find: typeof PENDING,
    forget: typeof FORGET_PENDING,
    blobOf = outboundBlob,
  ): Promise<number> {
    const ids = (await tx.query(find, ROWS)).map(({ id }) => id)
    if (ids.length === 0) return 0
    for (const id of ids) await this.#options.blobs.delete(blobOf(id))
    await tx.query(forget, ids)
    return ids.length
  }

  async #whileFull(stopping: AbortSignal | undefined, pass: () => Promise<number>): Promise<void> {
    while ((await pass()) === ROWS && !stopping?.aborted);
  }
}
