import type { DeletedInbox } from '@restante/contracts/internal'
import { type Queryable, sql, type Tx } from '@restante/service/database'

/** A deleted inbox, pod or organization. */
export interface DeletedScope {
  readonly kind: 'inbox' | 'pod' | 'organization'
  /** Its `inbox_uid`, `pod_id` or `organization_id`. The default pod has the id of its organization. */
  readonly id: string
  readonly organization_id: string
}

/** A deletion as the owner reports it, in its event or in its request to purge. */
export interface Deletion extends DeletedScope {
  readonly deleted_at: string
  /** Of an inbox. */
  readonly pod_id?: string
  /** Of an inbox. */
  readonly address?: string
}

/** What is known of a deleted inbox. */
export interface Tombstone {
  readonly organization_id: string
  /** Null in a service that does not keep addresses (`TombstoneOptions`). */
  readonly pod_id: string | null
  /** The same; null once its organization is deleted too. */
  readonly address: string | null
  /** Whether nothing is left of it, except what has to be finished first. */
  readonly purged: boolean
}

const FIND = sql<Tombstone, [inboxUid: string]>(
  `select organization_id, pod_id, address, purged_at is not null as purged
     from deleted_scopes where id = $1 and kind = 'inbox'`,
)
const AMONG = sql<{ id: string }, [ids: readonly string[]]>('select id from deleted_scopes where id = any($1::uuid[])')
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
const HOLD = sql<never, [id: string]>(`select pg_advisory_xact_lock_shared(hashtextextended('scope ' || $1, 0))`)
const LOCK = sql<never, [id: string]>(`select pg_advisory_xact_lock(hashtextextended('scope ' || $1, 0))`)

/** The tombstone of an inbox; undefined while its deletion is not known here. */
export async function findTombstone(on: Queryable, inboxUid: string): Promise<Tombstone | undefined> {
  const [row] = await on.query(FIND, inboxUid)
  return row
}

/** The ids of the deleted ones among these inboxes, pods and organizations. */
export async function deletedAmong(on: Queryable, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await on.query(AMONG, ids)).map(({ id }) => id))
}

/**
 * Keeps an inbox from being marked deleted until the transaction ends: rows that the purge does not see would stay. It
 * excludes `Tombstones.store` unless the service has given them a lock of its own.
 * @returns whether it still exists, as far as this service knows.
 */
export async function holdInbox(tx: Tx, inboxUid: string): Promise<boolean> {
  await tx.query(HOLD, inboxUid)
  return (await findTombstone(tx, inboxUid)) === undefined
}

/** @returns the deletion of an inbox, from its event or from the owner's request to purge it. */
export function deletionOfInbox(inbox: DeletedInbox): Deletion {
  const { organization_id, pod_id, inbox_uid, address, deleted_at } = inbox
  return { kind: 'inbox', id: inbox_uid, organization_id, pod_id, address, deleted_at }
}

/** How a service stores tombstones. */
export interface TombstoneOptions {
  /**
   * Takes the lock under which the service writes data of the scope, so that no write in progress is missed. Default:
   * the lock that `holdInbox` shares.
   */
  readonly lock?: (tx: Tx, scope: DeletedScope) => Promise<void>
  /** Whether pod and address of an inbox are kept, for late events that name it. Default: they are not. */
  readonly keepsAddresses?: boolean
}

/**
 * The tombstones of deleted inboxes, pods and organizations. From the commit that stores one, nothing is accepted for
 * the scope or shown of it: a write checks it under the lock that storing it takes.
 */
export class Tombstones {
  readonly #lock: (tx: Tx, scope: DeletedScope) => Promise<void>
  readonly #keepsAddresses: boolean

  constructor({ lock = lockScope, keepsAddresses = false }: TombstoneOptions = {}) {
    this.#lock = lock
    this.#keepsAddresses = keepsAddresses
  }

  /**
   * Stores the tombstone of a deleted scope. An inbox of a deleted organization gets no address: late events about it
   * have no recipient any more.
   * @param purged whether this transaction also deletes the content.
   * @returns whether the deletion was not known here yet.
   */
  async store(tx: Tx, deletion: Deletion, purged = false): Promise<boolean> {
    const { id, kind, organization_id, deleted_at } = deletion
    await this.#lock(tx, deletion)
    const { pod_id = null, address = null } = this.#keepsAddresses ? deletion : {}
    const stored = await tx.query(STORE, id, kind, organization_id, pod_id, address, deleted_at, purged)
    return stored.length > 0
  }
}

/** Deletes the addresses of a deleted organization's inboxes, in one batch. @returns how many there were. */
export async function forgetAddresses(tx: Tx, organizationId: string, rows: number): Promise<number> {
  return (await tx.query(FORGET_ADDRESSES, organizationId, rows)).length
}

async function lockScope(tx: Tx, { id }: DeletedScope): Promise<void> {
  await tx.query(LOCK, id)
}
