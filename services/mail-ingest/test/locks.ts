import { type Database, sql, type Tx } from '@restante/service/database'
import { queryRows, waitFor } from '@restante/testkit'

// Those that wait for a session, and those that wait for one of them.
const WAITING = `
with recursive waiting as (
  select pid, query from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock' and $1::int = any(pg_blocking_pids(pid))
  union
  select behind.pid, behind.query
    from waiting, pg_stat_activity as behind
   where behind.datname = current_database() and behind.wait_event_type = 'Lock'
     and waiting.pid = any(pg_blocking_pids(behind.pid)))
select from waiting where query ~ $2`

/**
 * Keeps the locks that `work` takes until it is done, however slow the machine is: PostgreSQL would end a transaction
 * that idles for 20 s.
 */
export function holding<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query(sql('set local idle_in_transaction_session_timeout = 0'))
    return work(tx)
  })
}

/**
 * Resolves when so many sessions wait for locks of a transaction, directly or behind each other. What waits for other
 * locks of the database does not count.
 * @param query of those that count: a regular expression.
 */
export async function whenWaiting(
  db: Database,
  tx: Tx,
  { count = 1, query = '', what = 'a session to wait for the lock' }: { count?: number; query?: string; what?: string },
): Promise<void> {
  const [holder] = await queryRows<{ pid: number }>(tx, 'select pg_backend_pid() as pid')
  await waitFor(async () => (await queryRows(db, WAITING, holder?.pid, query)).length >= count, { what })
}
