import type { DeletedInbox } from '@restante/contracts/internal'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A deleted inbox, pod or organization. */
export interface DeletedScope {
  readonly kind: 'inbox' | 'pod' | 'organization'
  /** Its `inbox_uid`, `pod_id` or `organization_id`. The default pod has the id of its organization. */
  readonly id: string
  readonly organization_id: string
}

/** A deletion as the gateway reports it, in an event or in a request to purge. */
export interface Deletion extends DeletedScope {
  readonly deleted_at: string
  /** Only of an inbox. */
  readonly pod_id?: string
  /** Only of an inbox. */
  readonly address?: string
}

/** What is known of a deleted inbox. */
export interface Tombstone {
  readonly organization_id: string
  /** Null in a service that does not keep pods (`TombstoneOptions`). */
  readonly pod_id: string | null
  /** Null in a service that does not keep addresses, too, and once the organization of the inbox is deleted. */
  readonly address: string | null
  /** Whether all its data is deleted, apart from accepted work that must be finished first. */
  readonly purged: boolean
}

const FIND = sql<Tombstone & { id: string }, [inboxUids: readonly string[]]>(
  `select id, organization_id, pod_id, address, purged_at is not null as purged
     from deleted_scopes where id = any($1::uuid[]) and kind = 'inbox'`,
)
const AMONG = sql<{ id: string }, [ids: readonly string[]]>('select id from deleted_scopes where id = any($1::uuid[])')
const TIMES = sql<{ id: string; deleted_at: Date }, [ids: readonly string[]]>(
  'select id, deleted_at from deleted_scopes where id = any($1::uuid[])',
)
const STORE = sql<
  { id: string },
  [
    id: string,
    kind: string,
    organizationId: string,
    podId: string | null,
    address: string | null,
    deletedAt: string,
    purged: boolean,
  ]
>(`
insert into deleted_scopes (id, kind, organization_id, pod_id, address, deleted_at, purged_at, ended_at)
select $1::uuid, $2::text, $3::uuid, $4::uuid,
       case when not exists (select from deleted_scopes where id = $3::uuid and kind = 'organization') then $5::text end, $6::timestamptz,
       case when $7::boolean then now() end, case when $7::boolean then now() end
on conflict do nothing
returning id`)
const FORGET_ADDRESSES = sql<{ id: string }, [organizationId: string, rows: number]>(`
update deleted_scopes set address = null
 where kind = 'inbox'
   and id in (select id from deleted_scopes where organization_id = $1 and address is not null limit $2)
returning id`)
// In one order: two transactions that hold the same scopes never wait for each other.
const HOLD = sql<never, [ids: readonly string[]]>(`
select pg_advisory_xact_lock_shared(hashtextextended('scope ' || id, 0))
  from (select id from unnest($1::text[]) as given(id) order by id) as held`)
const LOCK = sql<never, [id: string]>(`select pg_advisory_xact_lock(hashtextextended('scope ' || $1, 0))`)

/** The tombstone of an inbox; undefined when this service knows of no deletion. */
export async function findTombstone(on: Queryable, inboxUid: string): Promise<Tombstone | undefined> {
  return (await findTombstones(on, [inboxUid])).get(inboxUid)
}

/** The same for several inboxes, by their ids. */
export async function findTombstones(
  on: Queryable,
  inboxUids: readonly string[],
): Promise<ReadonlyMap<string, Tombstone>> {
  const rows = await on.query(FIND, inboxUids)
  return new Map(rows.map(({ id, ...tombstone }) => [id, tombstone]))
}

/** Those of the given ids whose inbox, pod or organization is deleted. */
export async function deletedAmong(on: Queryable, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await on.query(AMONG, ids)).map(({ id }) => id))
}

/**
 * Prevents an inbox from being marked deleted until the transaction ends: the purge would miss rows that are committed
 * after it. The lock excludes `Tombstones.store`, unless the service has configured another one (`TombstoneOptions`).
 * @returns false when the inbox is deleted, as far as this service knows.
 */
export function holdInbox(tx: Tx, inboxUid: string): Promise<boolean> {
  return holdScopes(tx, [inboxUid])
}

/**
 * The same for several scopes, such as an inbox with its pod and its organization.
 * @returns false when one of them is deleted, as far as this service knows.
 */
export async function holdScopes(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const [, deleted] = await Promise.all([tx.query(HOLD, [...new Set(ids)]), deletedAmong(tx, ids)])
  return deleted.size === 0
}

/**
 * The same for the scopes of many events at once.
 * @returns by id when those were deleted that are, as far as this service knows.
 */
export async function holdAmong(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const distinct = [...new Set(ids)]
  const [, deleted] = await Promise.all([tx.query(HOLD, distinct), tx.query(TIMES, distinct)])
  return new Map(deleted.map(({ id, deleted_at }) => [id, deleted_at]))
}

/** The deletion of an inbox, from the content of its event or of a request to purge it. */
export function deletionOfInbox(inbox: DeletedInbox): Deletion {
  const { organization_id, pod_id, inbox_uid, address, deleted_at } = inbox
  return { kind: 'inbox', id: inbox_uid, organization_id, pod_id, address, deleted_at }
}

/** How a service stores tombstones. */
export interface TombstoneOptions {
  /**
   * Takes the lock that the service holds while it writes data of the scope, so that storing a tombstone waits for
   * writes in progress. Default: the lock that `holdInbox` shares.
   */
  readonly lock?: (tx: Tx, scope: DeletedScope) => Promise<void>
  /** Whether pod and address of an inbox are kept, for late events that name it. Default: false. */
  readonly keepsAddresses?: boolean
  /** Whether the pod of an inbox is kept, where its address is not. Default: false. */
  readonly keepsPods?: boolean
}

/**
 * Stores the tombstones of deleted inboxes, pods and organizations. Once one is committed, the service accepts no data
 * of the scope and shows none: every write checks for the tombstone while it holds the lock that storing one takes.
 */
export class Tombstones {
  readonly #lock: (tx: Tx, scope: DeletedScope) => Promise<void>
  readonly #keepsAddresses: boolean
  readonly #keepsPods: boolean

  constructor({ lock = lockScope, keepsAddresses = false, keepsPods = keepsAddresses }: TombstoneOptions = {}) {
    this.#lock = lock
    this.#keepsAddresses = keepsAddresses
    this.#keepsPods = keepsPods
  }

  /**
   * Stores the tombstone of a deleted scope, for an inbox of a deleted organization without the address: late events
   * about it have no recipient any more.
   * @param purged whether this transaction also deletes the data.
   * @returns whether the deletion is new to this service.
   */
  async store(tx: Tx, deletion: Deletion, purged = false): Promise<boolean> {
    const { id, kind, organization_id, deleted_at } = deletion
    await this.#lock(tx, deletion)
    const { pod_id = null } = this.#keepsPods ? deletion : {}
    const { address = null } = this.#keepsAddresses ? deletion : {}
    const stored = await tx.query(STORE, id, kind, organization_id, pod_id, address, deleted_at, purged)
    return stored.length > 0
  }
}

/** Deletes the addresses of a deleted organization's inboxes, in one batch. @returns how many there were. */
export async function forgetAddresses(tx: Tx, organizationId: string, rows: number): Promise<number> {
  return (await tx.query(FORGET_ADDRESSES, organizationId, rows)).length
}

/** The lock that `holdInbox` and `holdScopes` share. A service whose tombstones take another lock can take it, too. */
export async function lockScope(tx: Tx, { id }: DeletedScope): Promise<void> {
  await tx.query(LOCK, id)
}
