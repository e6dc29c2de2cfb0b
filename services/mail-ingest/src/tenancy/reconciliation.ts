import { type Component, type Database, type Logger, Periodic, type ServiceClient, sql } from '@restante/service'
import { markInboxDeleted } from '../mailbox/lock.ts'
import type { ScopeColumns } from '../mailbox/rows.ts'

// One row per inbox, by a loose index scan.
const HELD = sql<ScopeColumns>(`
with recursive held as (
  (select organization_id, pod_id, inbox_uid, inbox_address from messages order by inbox_uid limit 1)
  union all
  select next.*
    from held, lateral (select organization_id, pod_id, inbox_uid, inbox_address from messages
                         where inbox_uid > held.inbox_uid order by inbox_uid limit 1) as next
)
select organization_id, pod_id, inbox_uid, inbox_address
  from held where not exists (select from deleted_inboxes where deleted_inboxes.inbox_uid = held.inbox_uid)`)

const PAGE = 1_000
const ASKED = 100
const EVERY_MS = 86_400_000
/** How often it checks whether a day has passed: a failed run is retried within the hour. */
const CHECK_MS = 3_600_000

export interface InboxReconciliationOptions {
  readonly db: Database
  /** The owner of inboxes. */
  readonly gateway: ServiceClient
  readonly log: Logger
  /** Called when an inbox is to be purged. */
  readonly notify: () => void
}

/**
 * Compares the inboxes that have mail here with those of their owner, daily, so that a deletion whose event was lost
 * does not keep mail forever. Only inboxes that two answers of the owner agree on are marked deleted.
 */
export class InboxReconciliation implements Component {
  readonly name = 'inbox reconciliation'
  readonly #options: InboxReconciliationOptions
  readonly #turns: Periodic
  #doneAt = 0

  constructor(options: InboxReconciliationOptions) {
    this.#options = options
    this.#turns = new Periodic({
      name: this.name,
      everyMs: CHECK_MS,
      log: options.log,
      work: (stopping) => this.#whenDue(stopping),
    })
  }

  start(): Promise<void> {
    return this.#turns.start()
  }

  /** Waits for the current run to end. */
  stop(): Promise<void> {
    return this.#turns.stop()
  }

  /** @returns how many inboxes turned out to be deleted. */
  async reconcile(stopping?: AbortSignal): Promise<number> {
    const { db, log, notify } = this.#options
    // Read before the snapshot: every live inbox that has mail now is in it.
    const held = new Map((await db.query(HELD)).map((inbox) => [inbox.inbox_uid, inbox]))
    const gone = await this.#unknownToOwner(await this.#withoutLive(held, stopping))
    const now = new Date().toISOString()
    for (const inbox of gone) await db.transaction((tx) => markInboxDeleted(tx, inbox, now))
    if (gone.length > 0) notify()
    log.info({ held: held.size, gone: gone.length }, 'inboxes reconciled with their owner')
    return gone.length
  }

  async #whenDue(stopping: AbortSignal): Promise<void> {
    if (Date.now() - this.#doneAt < EVERY_MS) return
    await this.reconcile(stopping)
    this.#doneAt = Date.now()
  }

  async #withoutLive(held: ReadonlyMap<string, ScopeColumns>, stopping?: AbortSignal): Promise<ScopeColumns[]> {
    const missing = new Map(held)
    for (let after: string | undefined, last = false; !last; ) {
      if (stopping?.aborted) return []
      const page = await this.#options.gateway.call('gateway.snapshotTenancy', {
        limit: PAGE,
        ...(after !== undefined && { after }),
      })
      for (const entity of page.entities) if (entity.type === 'inbox.changed') missing.delete(entity.payload.inbox_uid)
      after = page.next
      last = after === undefined
    }
    return [...missing.values()]
  }

  /**
   * Those whose address refers to no inbox any more, or to another one: a snapshot that lost a page must not cost mail.
   */
  async #unknownToOwner(inboxes: readonly ScopeColumns[]): Promise<ScopeColumns[]> {
    const unknown: ScopeColumns[] = []
    for (let from = 0; from < inboxes.length; from += ASKED) {
      const batch = inboxes.slice(from, from + ASKED)
      const addresses = batch.map(({ inbox_address }) => inbox_address)
      const { recipients } = await this.#options.gateway.call('gateway.resolveRecipients', { addresses })
      const live = new Set(recipients.flatMap((answer) => (answer.status === 'unknown' ? [] : [answer.inbox_uid])))
      unknown.push(...batch.filter(({ inbox_uid }) => !live.has(inbox_uid)))
    }
    return unknown
  }
}
