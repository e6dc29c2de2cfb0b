import { type Queryable, sql } from '@restante/service/database'

/** A comparison that was asked for, or was due; it runs until it has an end. */
export interface ComparisonRow {
  readonly id: number
  readonly started_at: Date
  readonly ended_at: Date | null
}

const LAST = sql<ComparisonRow>('select id, started_at, ended_at from comparisons order by id desc limit 1')
const FINISHED = sql<{ seconds: number | null }>(
  'select extract(epoch from max(ended_at))::float8 as seconds from comparisons',
)
const START = sql<{ id: number }, [operator: string | null]>(
  'insert into comparisons (operator) values ($1) on conflict do nothing returning id',
)
const END = sql<never, [id: number]>('update comparisons set ended_at = now() where id = $1')
const FORGET = sql<never>(`delete from comparisons where ended_at < now() - interval '120 days'`)

/** The last comparison, running or not. */
export async function lastComparison(on: Queryable): Promise<ComparisonRow | undefined> {
  const [row] = await on.query(LAST)
  return row
}

/** When the last finished comparison ended, in seconds since 1970; 0 when there was none. */
export async function lastFinished(on: Queryable): Promise<number> {
  const [row] = await on.query(FINISHED)
  return row?.seconds ?? 0
}

/** Has a comparison run, for an operator or because it is due. @returns false when one is running. */
export async function startComparison(on: Queryable, operator?: string): Promise<boolean> {
  return (await on.query(START, operator ?? null)).length > 0
}

export async function endComparison(on: Queryable, id: number): Promise<void> {
  await on.query(END, id)
  await on.query(FORGET)
}
