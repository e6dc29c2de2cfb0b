import { randomUUID } from 'node:crypto'
import { type Database, sql, type Tx } from '@restante/service/database'

/** How long a process that was killed keeps the others from its work. */
const LEASE_MS = 15_000
const RENEW_MS = 4_000

type Holder = [name: string, holder: string]

const TAKE = sql<{ name: string }, [...Holder, ms: number]>(`
insert into leases (name, holder, until) values ($1, $2::uuid, clock_timestamp() + $3::int * interval '1 millisecond')
on conflict (name) do update set holder = excluded.holder, until = excluded.until
 where leases.until < clock_timestamp() or leases.holder = excluded.holder
returning name`)
const HOLD = sql<{ name: string }, Holder>(
  'select name from leases where name = $1 and holder = $2::uuid and until > clock_timestamp() for share',
)
const RELEASE = sql<never, Holder>('delete from leases where name = $1 and holder = $2::uuid')

/** The lease of this process. */
export interface Lease {
  /** Aborted when the process stops, or the lease is lost. */
  readonly stopping: AbortSignal
  /** Whether the lease is not lost; no other process takes it until the transaction ends. */
  hold(tx: Tx): Promise<boolean>
}

/**
 * Has one process at a time do work, while it renews its lease. Work may go on for a moment after
 * its lease was lost: a transaction that must not be repeated holds the lease.
 * @returns false when another process has the lease.
 */
export async function withLease(
  db: Database,
  name: string,
  stopping: AbortSignal,
  work: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const holder = randomUUID()
  const take = async () => (await db.query(TAKE, name, holder, LEASE_MS)).length > 0
  if (!(await take())) return false
  const lost = new AbortController()
  let heldUntil = Date.now() + LEASE_MS
  const renew = async () => {
    const began = Date.now()
    // A database that does not answer is waited for as long as no other process can have the lease.
    const held = await take().catch(() => undefined)
    if (held === true) heldUntil = began + LEASE_MS
    if (held === false || Date.now() >= heldUntil) lost.abort()
  }
  const renewal = setInterval(() => void renew(), RENEW_MS)
  try {
    await work({
      stopping: AbortSignal.any([stopping, lost.signal]),
      hold: async (tx) => (await tx.query(HOLD, name, holder)).length > 0,
    })
  } finally {
    clearInterval(renewal)
    await db.query(RELEASE, name, holder).catch(() => {}) // It expires by itself.
  }
  return true
}
