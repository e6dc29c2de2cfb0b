import { sql, type Tx } from '@restante/service/database'

const LOCK = sql<never, [inboxUid: string]>(`select pg_advisory_xact_lock(hashtextextended('mailbox ' || $1, 0))`)

// In a fixed order, so that two transactions cannot deadlock.
const LOCK_ALL = sql<never, [inboxUids: readonly string[]]>(`
select pg_advisory_xact_lock(key)
  from (select distinct hashtextextended('mailbox ' || uid, 0) as key from unnest($1::text[]) as box(uid) order by key) as keys`)

const LOCK_WITHIN = sql<never, [timeout: string]>(`select set_config('lock_timeout', $1, true)`)

/**
 * Takes the lock that every change of an inbox's messages, threads and labels requires, until the transaction ends. So
 * two mails that arrive concurrently cannot both be the first of a thread, or both count as the original of a
 * duplicate.
 * @param timeoutMs how long to wait for the lock; then PostgreSQL reports 55P03. Default: as for any lock, 8 s.
 */
export async function lockMailbox(tx: Tx, inboxUid: string, timeoutMs?: number): Promise<void> {
  if (timeoutMs !== undefined) await tx.query(LOCK_WITHIN, `${timeoutMs}ms`)
  await tx.query(LOCK, inboxUid)
}

/** Takes the locks of several mailboxes. It must be the first lock of a transaction. */
export async function lockMailboxes(tx: Tx, inboxUids: readonly string[]): Promise<void> {
  await tx.query(LOCK_ALL, inboxUids)
}
