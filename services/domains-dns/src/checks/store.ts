import { type Queryable, sql, type Tx } from '@restante/service/database'
import { COLUMNS, type DomainRow } from '../registrations/store.ts'

/** A registration that only the caller checks, until it ends the lease or the lease runs out. */
export interface Leased {
  readonly row: DomainRow
  /** Identifies this lease: no other of the same registration ends at the same time. */
  readonly until: Date
}

type LeasedRow = DomainRow & { readonly checking_until: Date }
const LEASE = sql<LeasedRow, [uid: string, leaseMs: number]>(`
  update domains set checking_until = now() + $2::int * interval '1 millisecond'
  where uid = $1 and (checking_until is null or checking_until <= now())
  returning ${COLUMNS}, checking_until`)

/** @returns undefined when another process is checking it, or it is deleted. */
export async function lease(on: Queryable, uid: string, leaseMs: number): Promise<Leased | undefined> {
  const [row] = await on.query(LEASE, uid, leaseMs)
  return row && { row, until: row.checking_until }
}

const END_LEASE = sql<{ uid: string }, [uid: string, until: Date]>(
  'update domains set checking_until = null where uid = $1 and checking_until = $2 returning uid',
)

/** @returns whether the lease was still that of the caller. */
export async function endLease(on: Queryable, { row, until }: Leased): Promise<boolean> {
  return (await on.query(END_LEASE, row.uid, until)).length > 0
}

const EXISTS = sql<{ uid: string }, [uid: string]>('select uid from domains where uid = $1')

export async function exists(on: Queryable, uid: string): Promise<boolean> {
  return (await on.query(EXISTS, uid)).length > 0
}

const COUNT_UNANSWERED = sql<never, [uid: string]>('update domains set checks = checks + 1 where uid = $1')

/** Counts a check without an answer, which changes nothing else. */
export async function countUnanswered(tx: Tx, uid: string): Promise<void> {
  await tx.query(COUNT_UNANSWERED, uid)
}

interface RequestRow {
  readonly wanted: number
}
type RequestValues = [uid: string, now: Date, joinMs: number]
/**
 * A request shortly after another one, whose check has not ended, joins it. Otherwise the check that counts is the next
 * one that begins: the one after the running one, if there is one.
 */
const REQUEST = sql<RequestRow, RequestValues>(`
  update domains set
    scheduled_from = case when joins then scheduled_from else $2 end,
    converging_since = case when joins then converging_since end,
    requested_at = case when joins then requested_at else $2 end,
    wanted_checks = case when joins then wanted_checks else checks + 1 + (coalesce(checking_until > now(), false))::int end
  from (
    select requested_at > $2::timestamptz - $3::int * interval '1 millisecond' and checks < wanted_checks as joins
    from domains where uid = $1
  ) as earlier
  where uid = $1
  returning wanted_checks as wanted`)

/** Starts the clocks of a registration anew. @returns the value of `checks` at which the request is served. */
export async function recordRequest(tx: Tx, uid: string, now: Date, joinMs: number): Promise<number> {
  const [row] = await tx.query(REQUEST, uid, now, joinMs)
  if (!row) throw new Error(`the domain ${uid} is not locked`)
  return row.wanted
}
