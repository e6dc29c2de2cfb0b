import { type Database, type Queryable, sql } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { deletionOfInbox } from '@restante/tenancy'
import type { ScopeColumns } from '../mailbox/rows.ts'
import { scopeTombstones } from './tombstones.ts'

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
  from held where not exists (select from deleted_scopes where deleted_scopes.id = held.inbox_uid)`)

const PAGE = 1_000
const ASKED = 100

/** The result of a comparison with the owner of inboxes. */
export interface InboxComparison {
  /** How many inboxes that are not marked deleted have mail here. */
  readonly held: number
  /** Those among them that the owner does not know. */
  readonly unknown: readonly ScopeColumns[]
}

/**
 * Compares the inboxes that have mail here with those of their owner, to find deletions that were lost. An inbox counts as
 * unknown only when two answers of the owner agree on it: a snapshot that lost a page must not cost mail.
 */
export async function compareInboxes(db: Queryable, gateway: ServiceClient): Promise<InboxComparison> {
  // Read before the snapshot, which therefore has every live inbox that has mail now.
  const held = await db.query(HELD)
  return { held: held.length, unknown: await unknownToOwner(gateway, await withoutLive(gateway, held)) }
}

/** Marks inboxes deleted, as the lost events would have done; a running service purges them within seconds. */
export async function markDeleted(db: Database, inboxes: readonly ScopeColumns[]): Promise<void> {
  const deleted_at = new Date().toISOString()
  for (const { inbox_address: address, ...inbox } of inboxes) {
    await db.transaction((tx) => scopeTombstones.store(tx, deletionOfInbox({ ...inbox, address, deleted_at })))
  }
}

/** Those that are not in the owner's snapshot. */
async function withoutLive(gateway: ServiceClient, held: readonly ScopeColumns[]): Promise<ScopeColumns[]> {
  const missing = new Map(held.map((inbox) => [inbox.inbox_uid, inbox]))
  for (let after: string | undefined, last = false; !last; ) {
    const page = await gateway.call('gateway.snapshotTenancy', { limit: PAGE, ...(after !== undefined && { after }) })
    for (const entity of page.entities) if (entity.type === 'inbox.changed') missing.delete(entity.payload.inbox_uid)
    after = page.next
    last = after === undefined
  }
  return [...missing.values()]
}

/** Those whose address refers to no inbox any more, or to another one. */
async function unknownToOwner(gateway: ServiceClient, inboxes: readonly ScopeColumns[]): Promise<ScopeColumns[]> {
  const unknown: ScopeColumns[] = []
  for (let from = 0; from < inboxes.length; from += ASKED) {
    const batch = inboxes.slice(from, from + ASKED)
    const addresses = batch.map(({ inbox_address }) => inbox_address)
    const { recipients } = await gateway.call('gateway.resolveRecipients', { addresses })
    const live = new Set(recipients.flatMap((answer) => (answer.status === 'unknown' ? [] : [answer.inbox_uid])))
    unknown.push(...batch.filter(({ inbox_uid }) => !live.has(inbox_uid)))
  }
  return unknown
}
