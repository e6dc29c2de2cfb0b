import { type Queryable, sql, type Tx } from '@restante/service'
import type { ScopeColumns } from './rows.ts'

const LOCK = sql<never, [inboxUid: string]>(`select pg_advisory_xact_lock(hashtextextended('mailbox ' || $1, 0))`)

// In a fixed order, so that two transactions cannot deadlock.
const LOCK_ALL = sql<never, [inboxUids: readonly string[]]>(`
select pg_advisory_xact_lock(key)
  from (select distinct hashtextextended('mailbox ' || uid, 0) as key from unnest($1::text[]) as box(uid) order by key) as keys`)

const LOCK_WITHIN = sql<never, [timeout: string]>(`select set_config('lock_timeout', $1, true)`)

/** Tombstone of a deleted inbox. */
export interface DeletedInbox extends Omit<ScopeColumns, 'inbox_address'> {
  /** Null once its organization is deleted too. */
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
 * mails that arrive concurrently cannot both be first in a thread, or both be the original of a duplicate.
 * @param timeoutMs how long to wait for it; then PostgreSQL reports 55P03. Default: as for any lock, 8 s.
 */
export async function lockMailbox(tx: Tx, inboxUid: string, timeoutMs?: number): Promise<void> {
  if (timeoutMs !== undefined) await tx.query(LOCK_WITHIN, `${timeoutMs}ms`)
  await tx.query(LOCK, inboxUid)
}

/** Takes the locks of several mailboxes. It must be the first lock of a transaction. */
export async function lockMailboxes(tx: Tx, inboxUids: readonly string[]): Promise<void> {
  await tx.query(LOCK_ALL, inboxUids)
}

/**
 * The tombstone of an inbox, if it is deleted. From then on nothing of it may be shown or stored; check under the lock
 * before storing.
 */
export async function deletedInbox(db: Queryable, inboxUid: string): Promise<DeletedInbox | undefined> {
  const [row] = await db.query(TOMBSTONE, inboxUid)
  return row
}

/** The deleted ones among these inboxes. */
export async function deletedInboxes(db: Queryable, inboxUids: readonly string[]): Promise<Set<string>> {
  return new Set((await db.query(TOMBSTONES, inboxUids)).map(({ inbox_uid }) => inbox_uid))
}

/** Stores the tombstone of a deleted inbox, whose content is purged afterwards. */
export async function markInboxDeleted(tx: Tx, inbox: ScopeColumns, deletedAt: string): Promise<void> {
  const { inbox_uid, organization_id, pod_id, inbox_address } = inbox
  await lockMailbox(tx, inbox_uid)
  await tx.query(BURY, inbox_uid, organization_id, pod_id, inbox_address, deletedAt)
}
