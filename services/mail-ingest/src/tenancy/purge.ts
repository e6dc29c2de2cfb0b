import type { Outbox } from '@restante/messaging'
import { type Logger, type Part, Periodic, sql } from '@restante/service'
import type { Db } from '../database.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import { rawMails } from '../raw/store.ts'
import { applyFact } from '../sent/apply-fact.ts'
import { pendingFacts } from '../sent/store.ts'

const TO_PURGE = sql<{ inbox_uid: string }>(
  'select inbox_uid from deleted_inboxes where purged_at is null order by deleted_at limit 1 for update skip locked',
)

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
const PURGED = sql<never, [inboxUid: string]>('update deleted_inboxes set purged_at = now() where inbox_uid = $1')

const BATCH = 500
const EVERY_MS = 10_000

/**
 * Empties deleted inboxes in batches, each a transaction: wherever it stops, the next turn goes on. Mail of such an
 * inbox that is still in the queue is discarded by the pipeline, and its blobs go with the other unused ones.
 */
export class InboxPurge implements Part {
  readonly name = 'inbox purge'
  readonly #db: Db
  readonly #outbox: Outbox
  readonly #sweep: () => void
  readonly #turns: Periodic

  /** @param options `sweep` is called when bytes may have become unused. */
  constructor(options: { db: Db; outbox: Outbox; log: Logger; sweep: () => void }) {
    this.#db = options.db
    this.#outbox = options.outbox
    this.#sweep = options.sweep
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

  /** Lets the turn that runs come to its end. */
  stop(): Promise<void> {
    return this.#turns.stop()
  }

  readonly ring = (): void => this.#turns.ring()

  /** Works until no deleted inbox holds anything, or the process stops. */
  async purge(stopping?: AbortSignal): Promise<void> {
    while (!stopping?.aborted && (await this.#purgeBatch())) this.#sweep()
  }

  /** @returns whether there may be more to do. */
  #purgeBatch(): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const [inbox] = await tx.query(TO_PURGE)
      if (!inbox) return false
      const uid = inbox.inbox_uid
      // A deletion by a caller that is still under way would give up the same bytes, which other inboxes may share.
      await lockMailbox(tx, uid)
      const messages = await tx.query(MESSAGES, uid, BATCH)
      await rawMails.release(
        tx,
        messages.map(({ blob }) => blob),
      )
      const rest = [await tx.query(THREADS, uid, BATCH), await tx.query(LABELS, uid, BATCH)]
      // Their copies will never come; what they tell goes on to pod and organization (events 1.2 rule 12).
      const facts = await pendingFacts.takeOfInbox(tx, uid, BATCH)
      for (const fact of facts) await applyFact(tx, this.#outbox, fact)
      if ([messages, facts, ...rest].every((rows) => rows.length < BATCH)) await tx.query(PURGED, uid)
      return true
    })
  }
}
