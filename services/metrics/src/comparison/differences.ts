import { type Queryable, sql } from '@restante/service/database'
import { SUM_OF_ROW } from '../series/add.ts'
import { codeOf, DAY_MS, dayOf, TIER_CODES } from '../series/series.ts'
import type { Amounts, OwnerRange, StoredInbox } from './owners.ts'

/** The series that owners count in inboxes. */
export const STORED = ['storage_bytes', 'message_count', 'thread_count'] as const

/** By how much the total of an inbox is lower than what its owners have counted. */
export interface Difference extends StoredInbox {
  /** Something changed while it was counted: the difference may be an event whose transaction was not committed. */
  readonly isMoving: boolean
}

/** A change that is older is committed, with its time taken before. */
const COMMITTED_MS = 5_000
const PAGE = 1_000

interface InboxRow {
  readonly id: string
  readonly organization_id: string
  readonly pod_id: string | null
}

const IN_RANGE = sql<InboxRow, [after: string, until: string | null, limit: number]>(`
select id, organization_id, pod_id from entities as e
 where kind = 'inbox' and not purged and id > $1::uuid and ($2::uuid is null or id <= $2::uuid)
 order by id limit $3`)
const DELETED = sql<{ id: string }, [ids: readonly string[]]>(
  'select id from deleted_scopes where id = any($1::uuid[])',
)

// The totals of everything that is counted, without what came after the owners have counted.
const MEASURE = sql<
  { scope_id: string; series: number; total: number; moving: boolean },
  [ids: readonly string[], series: readonly number[], day: number, from: number, to: number]
>(`
with rows as (
  select scope_id, series, day * ${DAY_MS}::bigint as base, last_ms, times, sums from arrivals
   where scope_id = any($1::uuid[]) and tier = ${TIER_CODES.inbox} and series = any($2::smallint[])),
recent as (
  select scope_id, series, base + ms as at, case when sums = '{}' then 1 else sums[n] - coalesce(sums[n - 1], 0) end as value
    from (select * from rows
          union all
          select scope_id, series, day * ${DAY_MS}::bigint, last_ms, times, sums from runs
           where scope_id = any($1::uuid[]) and tier = ${TIER_CODES.inbox} and series = any($2::smallint[]) and day >= $3::int) as parts
   cross join lateral unnest(times) with ordinality as point (ms, n)
   where base + last_ms >= $4::bigint and base + ms >= $4::bigint)
select scope_id, series, sum(value)::float8 as total, bool_or(moving) as moving
  from (select scope_id, series, total as value, false as moving from totals
         where scope_id = any($1::uuid[]) and tier = ${TIER_CODES.inbox} and series = any($2::smallint[])
        union all
        select scope_id, series, ${SUM_OF_ROW}, false from rows
        union all
        select scope_id, series, case when at > $5::bigint then -value else 0 end, at <= $5::bigint from recent) as parts
 group by scope_id, series`)

/**
 * The inboxes of a range whose totals are not what their owners have counted; an inbox that the owners do not list has nothing.
 * The consumers have caught up with the time at which the owners counted.
 * @param only those inboxes, if given.
 */
export async function differencesIn(
  on: Queryable,
  range: OwnerRange,
  only?: ReadonlySet<string>,
): Promise<Difference[]> {
  const found: Difference[] = []
  const listed = [...range.inboxes.values()]
  for (let from: string | undefined = range.after; from !== undefined; ) {
    const after: string = from
    const rows: InboxRow[] = await on.query(IN_RANGE, after, range.until ?? null, PAGE)
    const last = rows.length === PAGE ? rows.at(-1)?.id : undefined
    const inboxes = new Map(rows.map((row) => [row.id, ourInbox(row)]))
    for (const inbox of listed)
      if (inbox.id > after && (last === undefined || inbox.id <= last)) inboxes.set(inbox.id, inbox)
    const asked = [...inboxes.values()].filter(({ id }) => only?.has(id) ?? true)
    found.push(...(await differencesOf(on, range, asked)))
    from = last
  }
  return found
}

function ourInbox({ id, organization_id: organizationId, pod_id }: InboxRow): StoredInbox {
  return { id, organizationId, podId: pod_id ?? undefined, amounts: [0, 0, 0] }
}

async function differencesOf(
  on: Queryable,
  { from, to }: OwnerRange,
  inboxes: readonly StoredInbox[],
): Promise<Difference[]> {
  if (inboxes.length === 0) return []
  const ids = inboxes.map(({ id }) => id)
  const since = from - COMMITTED_MS
  const [rows, deleted] = await Promise.all([
    on.query(MEASURE, ids, STORED.map(codeOf), dayOf(since), since, to),
    on.query(DELETED, ids),
  ])
  const gone = new Set(deleted.map(({ id }) => id))
  const measured = Map.groupBy(rows, (row) => row.scope_id)
  return inboxes.flatMap((inbox) => {
    const ours = measured.get(inbox.id) ?? []
    const difference = (index: 0 | 1 | 2) =>
      inbox.amounts[index] - (ours.find(({ series }) => series === codeOf(STORED[index]))?.total ?? 0)
    const amounts: Amounts = [difference(0), difference(1), difference(2)]
    if (gone.has(inbox.id) || amounts.every((amount) => amount === 0)) return []
    return [{ ...inbox, amounts, isMoving: ours.some(({ moving }) => moving) }]
  })
}
