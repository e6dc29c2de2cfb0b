import type { BlobStore } from '@restante/blobs'
import type { Outbox } from '@restante/messaging'
import {
  type Component,
  type Database,
  inboxesWaiting,
  type Logger,
  Periodic,
  PurgeBacklog,
  purgeStatements,
  RoundRobinPurger,
  sql,
  type Tx,
} from '@restante/service'
import { lockMailbox } from '../mailbox/lock.ts'
import { copiesOf, rawMails } from '../raw/store.ts'
import { applyDeliveryEvent } from '../sent/apply-delivery-event.ts'
import { pendingDeliveryEvents } from '../sent/store.ts'
import { waitingMails } from '../waiting/store.ts'
import { purgeOrganization } from './organizations.ts'

/** See the partial index `deleted_inboxes_unpurged`. */
const INBOXES = {
  table: 'deleted_inboxes',
  id: 'inbox_uid',
  owner: 'organization_id',
  open: 'purged_at is null',
}
const INBOX_TURNS = purgeStatements(INBOXES)
const WAITING = inboxesWaiting(INBOXES.open)

const MESSAGES = sql<{ blob: string }, [inboxUid: string, rows: number]>(`
delete from messages
 where id in (select id from messages where inbox_uid = $1 limit $2)
returning blob`)
const THREADS = sql<{ id: string }, [inboxUid: string, rows: number]>(
  'delete from threads where id in (select id from threads where inbox_uid = $1 limit $2) returning id',
)
const LABELS = sql<{ id: string }, [inboxUid: string, rows: number]>(
  'delete from label_log where id in (select id from label_log where inbox_uid = $1 limit $2) returning id',
)
// Copies of sent mail that were being placed concurrently, or that arrived too late; a write in progress takes seconds.
const UNPLACED = sql<{ blob: string }, [folder: string, rows: number]>(`
select blob from raw_mails
 where refs = 0 and starts_with(blob, $1) and (size > 0 or updated_at < now() - interval '5 minutes')
 limit $2
   for update skip locked`)
const ON_THEIR_WAY = sql<{ one: number }, [inboxUid: string, folder: string]>(`
(select 1 as one from inbound where lane = $1 limit 1)
union all
(select 1 from waiting_mails where inbox_uid = $1 limit 1)
union all
(select 1 from raw_mails where refs = 0 and starts_with(blob, $2) limit 1)`)
const NEXT_TURN = sql<never, [inboxUid: string, waitMs: number]>(
  "update deleted_inboxes set due_at = clock_timestamp() + $2::int * interval '1 millisecond' where inbox_uid = $1",
)
const PURGED = sql<never, [inboxUid: string]>('update deleted_inboxes set purged_at = now() where inbox_uid = $1')

const BATCH = 500
/** Blobs that are deleted in one call. */
const AT_ONCE = 50
const EVERY_MS = 2_000
/** How soon it checks again whether mail in transit to an inbox has been processed. */
const QUEUE_MS = 1_000

/** How many inboxes are still to be purged, for the metrics. */
export function purgeBacklog(db: Database, log: Logger): PurgeBacklog {
  return new PurgeBacklog({ db, log, measure: WAITING })
}

/**
 * Purges deleted inboxes in batches, each a transaction: wherever it stops, the next run continues. Organizations are
 * served in rotation. The pipeline discards mail of such an inbox that is still in the queue, which is waited for.
 */
export class InboxPurge implements Component {
  readonly name = 'inbox purge'
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #outbox: Outbox
  readonly #inboxes: RoundRobinPurger
  readonly #turns: Periodic

  constructor(options: { db: Database; blobs: BlobStore; outbox: Outbox; log: Logger }) {
    this.#db = options.db
    this.#blobs = options.blobs
    this.#outbox = options.outbox
    this.#inboxes = new RoundRobinPurger({
      db: options.db,
      statements: INBOX_TURNS,
      work: (tx, uid) => this.#purgeBatch(tx, uid),
    })
    this.#turns = new Periodic({
      name: this.name,
      everyMs: EVERY_MS,
      log: options.log,
      work: (stopping) => this.purge(stopping),
    })
  }

  start(): Promise<void> {
    return this.#turns.start()
  }

  /** Waits for the current run to end. */
  stop(): Promise<void> {
    return this.#turns.stop()
  }

  readonly notify = (): void => this.#turns.notify()

  /** Works until nothing more can be purged now, or the process stops. */
  async purge(stopping?: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping?.aborted; ) {
      const inboxes = await this.#inboxes.round(stopping)
      const organization = await this.#db.transaction(purgeOrganization)
      more = inboxes || organization
    }
  }

  async #purgeBatch(tx: Tx, uid: string): Promise<void> {
    // A concurrent deletion by a caller would release the same bytes, which other inboxes may share.
    await lockMailbox(tx, uid)
    const messages = await tx.query(MESSAGES, uid, BATCH)
    const released = await rawMails.release(
      tx,
      messages.map(({ blob }) => blob),
    )
    // The pipeline discards them, as it does with mail still in transit.
    await waitingMails.giveBackAll(tx, uid, BATCH)
    const unplaced = await tx.query(UNPLACED, copiesOf(uid), BATCH)
    await this.#delete(tx, [...released, ...unplaced.map(({ blob }) => blob)])
    const rest = [await tx.query(THREADS, uid, BATCH), await tx.query(LABELS, uid, BATCH)]
    // Their copies will never arrive; their events are passed on to pod and organization (events 1.2 rule 12).
    const late = await pendingDeliveryEvents.takeOfInbox(tx, uid, BATCH)
    for (const event of late) await applyDeliveryEvent(tx, this.#outbox, event)
    if ([messages, unplaced, late, ...rest].some((rows) => rows.length === BATCH)) await tx.query(NEXT_TURN, uid, 0)
    else if ((await tx.query(ON_THEIR_WAY, uid, copiesOf(uid))).length > 0) await tx.query(NEXT_TURN, uid, QUEUE_MS)
    else await tx.query(PURGED, uid)
  }

  /**
   * Bytes are deleted before their rows: a crash in between leaves rows of an inbox that cannot be read any more, and
   * the next run deletes the same bytes again.
   */
  async #delete(tx: Tx, blobs: readonly string[]): Promise<void> {
    for (let from = 0; from < blobs.length; from += AT_ONCE) {
      await Promise.all(blobs.slice(from, from + AT_ONCE).map((blob) => this.#blobs.delete(blob)))
    }
    await rawMails.forget(tx, blobs)
  }
}
