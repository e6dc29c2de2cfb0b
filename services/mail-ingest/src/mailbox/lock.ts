import { type Queryable, sql, type Tx } from '@restante/service'
import type { ScopeColumns } from './rows.ts'

const LOCK = sql<never, [inboxUid: string]>(`select pg_advisory_xact_lock(hashtextextended('mailbox ' || $1, 0))`)

// In one order for everybody, so that two transactions never wait for each other.
const LOCK_ALL = sql<never, [inboxUids: readonly string[]]>(`
select pg_advisory_xact_lock(key)
  from (select distinct hashtextextended('mailbox ' || uid, 0) as key from unnest($1::text[]) as box(uid) order by key) as keys`)

const LOCK_WITHIN = sql<never, [patience: string]>(`select set_config('lock_timeout', $1, true)`)

/** What is left of a deleted inbox. */
export interface DeletedInbox extends Omit<ScopeColumns, 'inbox_address'> {
  /** Null once its organization is gone too. */
  readonly inbox_address: string | null
  readonly purged: boolean
}

const TOMBSTONE = sql<DeletedInbox, [inboxUid: string]>(`
select organization_id, pod_id, inbox_uid, address as inbox_address, purged_at is not null as purged
  from deleted_inboxes where inbox_uid = $1`)

const TOMBSTONES = sql<{ inbox_uid: string }, [inboxUids: readonly string[]]>(
  'select inbox_uid from deleted_inboxes where inbox_uid = any($1)',
)

const BURY = sql<never, [inboxUid: string, organizationId: string, podId: string, address: string, deletedAt: string]>(`
insert into deleted_inboxes (inbox_uid, organization_id, pod_id, address, deleted_at)
select $1, $2, $3, case when not exists (select from deleted_organizations where organization_id = $2) then $4 end,
       $5::timestamptz
on conflict do nothing`)

/**
 * Takes the one lock under which an inbox's messages, threads and labels change, until the transaction ends; so two
 * mails that arrive at once cannot both be first in a thread, or both be the original of a duplicate.
 * @param patienceMs how long to wait for it; then PostgreSQL refuses with 55P03. Default: as for any lock, 8 s.
 */
export async function lockMailbox(tx: Tx, inboxUid: string, patienceMs?: number): Promise<void> {
  if (patienceMs !== undefined) await tx.query(LOCK_WITHIN, `${patienceMs}ms`)
  await tx.query(LOCK, inboxUid)
}

/** Takes the locks of several mailboxes. It must be the first thing that a transaction locks. */
export async function lockMailboxes(tx: Tx, inboxUids: readonly string[]): Promise<void> {
  await tx.query(LOCK_ALL, inboxUids)
}

/**
 * What is left of an inbox when it is deleted. Nothing of it may be shown from then on, nor anything stored in it: who
 * wants to store asks under the lock.
 */
export async function deletedInbox(db: Queryable, inboxUid: string): Promise<DeletedInbox | undefined> {
  const [row] = await db.query(TOMBSTONE, inboxUid)
  return row
}

/** Those of these inboxes that are deleted. */
export async function deletedInboxes(db: Queryable, inboxUids: readonly string[]): Promise<Set<string>> {
  return new Set((await db.query(TOMBSTONES, inboxUids)).map(({ inbox_uid }) => inbox_uid))
}

/** Leaves the tombstone of a deleted inbox, whose content is purged from then on. */
export async function markInboxDeleted(tx: Tx, inbox: ScopeColumns, deletedAt: string): Promise<void> {
  const { inbox_uid, organization_id, pod_id, inbox_address } = inbox
  await lockMailbox(tx, inbox_uid)
  await tx.query(BURY, inbox_uid, organization_id, pod_id, inbox_address, deletedAt)
}
