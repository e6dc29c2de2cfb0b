import { sql, type Tx } from '@restante/service/database'
import { type Scope, TIER_CODES } from './series.ts'

const LOCK = sql<never>(`select pg_advisory_xact_lock(hashtextextended('settling', 0))`)

/**
 * Excludes settling until the transaction ends. Settling moves points from one table to another, so a transaction that deletes
 * them from both would miss some.
 */
export async function excludeSettling(tx: Tx): Promise<void> {
  await tx.query(LOCK)
}

type ScopeColumns = [scopeId: string, tier: number]

const FORGET_TOTALS = sql<never, ScopeColumns>('delete from totals where scope_id = $1 and tier = $2::smallint')
const FORGET_ARRIVALS = sql<never, ScopeColumns>('delete from arrivals where scope_id = $1 and tier = $2::smallint')
const FORGET_REBUILT = sql<never, ScopeColumns>('delete from rebuilt where scope_id = $1 and tier = $2::smallint')
const FORGET_ADJUSTMENTS = sql<never, ScopeColumns>(
  'delete from adjustments where scope_id = $1 and tier = $2::smallint',
)
const FORGET_RUNS = sql<{ one: number }, [...ScopeColumns, limit: number]>(`
delete from runs where (scope_id, tier, series, day, first_ms, id) in
  (select scope_id, tier, series, day, first_ms, id from runs where scope_id = $1 and tier = $2::smallint limit $3)
returning 1 as one`)

/** Deletes what is counted for a scope, its running totals first and of its runs at most `limit`; settling is excluded. */
export async function deleteScope(tx: Tx, { id, tier }: Scope, limit: number): Promise<'more' | 'ended'> {
  const columns: ScopeColumns = [id, TIER_CODES[tier]]
  await tx.query(FORGET_TOTALS, ...columns)
  await tx.query(FORGET_ARRIVALS, ...columns)
  await tx.query(FORGET_REBUILT, ...columns)
  await tx.query(FORGET_ADJUSTMENTS, ...columns)
  return (await tx.query(FORGET_RUNS, ...columns, limit)).length === limit ? 'more' : 'ended'
}
