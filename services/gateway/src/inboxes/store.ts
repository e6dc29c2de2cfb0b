import { randomUUID } from 'node:crypto'
import { type Queryable, sql } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'
import { isInScope, type Located, type ScopeFilter } from '@restante/service/identity'
import type { Inbox } from '../generated/prisma/client.ts'
import type { Db, Tx } from '../storage/database.ts'
import { behind } from '../storage/keyset-condition.ts'
import type { ShownInbox } from './document.ts'
import type { Metadata } from './metadata.ts'
import { parseReference } from './references.ts'
import { indexInbox, searchColumn } from './search/search-index.ts'

export interface NewInbox {
  /** Of one that is created again after the database was put back from a backup. */
  readonly uid?: string
  readonly organizationId: string
  readonly podId: string
  readonly address: string
  /** On a domain of the organization, or below one. */
  readonly ownDomain: boolean
  readonly displayName?: string | undefined
  readonly clientId?: string | undefined
  readonly paused?: boolean
  readonly metadata?: Metadata | undefined
}

const INSERT = sql<
  { uid: string },
  [
    uid: string,
    organizationId: string,
    podId: string,
    address: string,
    displayName: string | null,
    clientId: string | null,
    status: string,
    metadata: string,
    searchWords: string,
    now: string,
    ownDomain: boolean,
  ]
>(`
insert into inboxes (uid, organization_id, pod_id, address, display_name, client_id, status, metadata, search_words, created_at, updated_at, own_domain)
values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $10, $11)
on conflict do nothing
returning uid`)

const COUNT = sql<never, [organizationId: string, change: number]>(
  'update organizations set inbox_count = inbox_count + $2 where id = $1',
)

/**
 * Inserts an inbox and counts it, unless its address or alias has just been taken: unique indexes decide, waiting for a
 * concurrent insert to end. The caller holds the organization's lock.
 */
export async function insertInbox(tx: Tx, given: NewInbox, now: Date): Promise<Inbox | undefined> {
  const displayName = given.displayName === undefined || given.displayName === '' ? null : given.displayName
  const row: Inbox = {
    uid: given.uid ?? randomUUID(),
    organizationId: given.organizationId,
    podId: given.podId,
    address: given.address,
    ownDomain: given.ownDomain,
    displayName,
    clientId: given.clientId ?? null,
    status: given.paused === true ? 'paused' : 'active',
    metadata: { ...given.metadata },
    inherited: [],
    searchWords: searchColumn(given.address, displayName),
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }
  const [inserted] = await tx.query(
    INSERT,
    row.uid,
    row.organizationId,
    row.podId,
    row.address,
    row.displayName,
    row.clientId,
    row.status,
    JSON.stringify(row.metadata),
    row.searchWords,
    now.toISOString(),
    row.ownDomain,
  )
  if (inserted === undefined) return undefined
  await tx.query(COUNT, row.organizationId, 1)
  await indexInbox(tx, row, '')
  return row
}

const COUNT_IN_POD = sql<{ count: number }, [podId: string]>(
  'select count(*)::int as count from inboxes where pod_id = $1 and deleted_at is null',
)

/** Number of live inboxes of a pod; those still being purged do not count (identity 7). */
export async function countInboxes(tx: Tx, podId: string): Promise<number> {
  const [live] = await tx.query(COUNT_IN_POD, podId)
  return live?.count ?? 0
}

const LOCK = sql<{ uid: string }, [organizationId: string, address: string | null, clientId: string | null]>(`
select uid from inboxes
 where organization_id = $1 and deleted_at is null and (address = $2 or client_id = $3)
   for update`)

/** Locks the live inbox that a path segment names, if the scope reaches it. */
export async function lockInbox(tx: Tx, scope: ScopeFilter, reference: string): Promise<Inbox | undefined> {
  const { address, clientId } = parseReference(reference)
  const [held] = await tx.query(LOCK, scope.organizationId, address, clientId)
  if (held === undefined) return undefined
  const orm = await tx.orm()
  const row = await orm.inbox.findUniqueOrThrow({ where: { uid: held.uid } })
  return isInScope(scope, locationOf(row)) ? row : undefined
}

// The most frequent query here; through the ORM it costs several times as much.
const FIND = sql<ShownInbox, [organizationId: string, uid: string]>(`
select pod_id as "podId", address, display_name as "displayName", client_id as "clientId", status, metadata,
       created_at as "createdAt", updated_at as "updatedAt"
  from inboxes
 where organization_id = $1 and uid = $2 and deleted_at is null`)

/** The shown columns of a live inbox. */
export async function findInbox(db: Queryable, organizationId: string, uid: string): Promise<ShownInbox | undefined> {
  const [row] = await db.query(FIND, organizationId, uid)
  return row
}

/** Where an inbox lies in its organization. */
export function locationOf({ organizationId, podId, uid: inboxUid }: Inbox): Located {
  return { organizationId, podId, inboxUid }
}

export function listInboxes(db: Db, scope: ScopeFilter, page: KeysetPage): Promise<Inbox[]> {
  return db.orm.inbox.findMany({
    where: {
      organizationId: scope.organizationId,
      deletedAt: null,
      ...(scope.podId === undefined ? {} : { podId: scope.podId }),
      AND: [
        scope.inboxUid === undefined ? {} : { uid: scope.inboxUid },
        behind(page.after, page.order, (uid) => ({ uid })),
      ],
    },
    orderBy: [{ createdAt: page.order }, { uid: page.order }],
    take: page.take,
  })
}

export interface InboxChange {
  readonly displayName: string | null
  readonly status: string
  readonly metadata: Metadata
  /** See `inheritance.ts`. */
  readonly inherited: readonly string[]
}

/** Changes an inbox that is locked. */
export async function changeInbox(tx: Tx, target: Inbox, change: InboxChange): Promise<Inbox> {
  const orm = await tx.orm()
  const changed = await orm.inbox.update({
    where: { uid: target.uid },
    data: {
      displayName: change.displayName,
      status: change.status,
      metadata: { ...change.metadata },
      inherited: [...change.inherited],
      searchWords: searchColumn(target.address, change.displayName),
      version: { increment: 1 },
      updatedAt: new Date(),
    },
  })
  await indexInbox(tx, changed, target.searchWords)
  return changed
}

const DROP_ALIAS = sql<never, [uid: string]>('update inboxes set client_id = null where uid = $1')

/** Frees the alias of an inbox that is locked. */
export async function dropAlias(tx: Tx, uid: string): Promise<void> {
  await tx.query(DROP_ALIAS, uid)
}

const MARK_DELETED = sql<never, [uid: string, now: string]>(`
update inboxes
   set deleted_at = $2, updated_at = $2, version = version + 1, display_name = null, client_id = null, metadata = '{}',
       inherited = '{}', search_words = ''
 where uid = $1`)

const RETIRE = sql<never, [address: string, organizationId: string, until: string]>(`
insert into retired_addresses (address, organization_id, until) values ($1, $2, $3)
on conflict (address) do update set organization_id = excluded.organization_id, until = excluded.until`)

/**
 * Turns a locked inbox into a tombstone, which is deleted when every service has purged it, and reserves its address
 * against other organizations for a while; that of a domain of its own is for whoever holds the domain (identity 10.2).
 */
export async function markInboxDeleted(tx: Tx, row: Inbox, now: Date, addressFreeAt: Date): Promise<void> {
  await tx.query(MARK_DELETED, row.uid, now.toISOString())
  await indexInbox(tx, { ...row, searchWords: '' }, row.searchWords)
  await tx.query(COUNT, row.organizationId, -1)
  if (!row.ownDomain) await tx.query(RETIRE, row.address, row.organizationId, addressFreeAt.toISOString())
}

/** The holder that keeps an address from others, and why. */
export interface AddressHolder {
  readonly organizationId: string
  /** `purging`: a deleted inbox of which data is still stored. `retired`: one that is fully purged. */
  readonly state: 'live' | 'purging' | 'retired'
}

const HOLDER = sql<AddressHolder, [address: string]>(`
select organization_id as "organizationId", state
  from (select organization_id, 'live' as state, 1 as rank from inboxes where address = $1 and deleted_at is null
        union all
        select organization_id, 'purging', 2 from inboxes where address = $1 and deleted_at is not null
        union all
        select organization_id, 'retired', 3 from retired_addresses where address = $1 and until > now()) as holders
 order by rank
 limit 1`)

/** The holder of an address on a shared domain: an inbox, or the organization that had it until recently. */
export async function holderOf(db: Queryable, address: string): Promise<AddressHolder | undefined> {
  const [holder] = await db.query(HOLDER, address)
  return holder
}

const HOLDER_WITHIN = sql<AddressHolder, [organizationId: string, address: string]>(`
select organization_id as "organizationId", state
  from (select organization_id, 'live' as state, 1 as rank
          from inboxes where organization_id = $1 and address = $2 and deleted_at is null
        union all
        select organization_id, 'purging', 2
          from inboxes where organization_id = $1 and address = $2 and deleted_at is not null) as holders
 order by rank
 limit 1`)

/**
 * The inbox that has an address of an organization's own domain. Those of other organizations, which had the domain
 * earlier, do not count.
 */
export async function holderWithin(
  db: Queryable,
  organizationId: string,
  address: string,
): Promise<AddressHolder | undefined> {
  const [holder] = await db.query(HOLDER_WITHIN, organizationId, address)
  return holder
}
