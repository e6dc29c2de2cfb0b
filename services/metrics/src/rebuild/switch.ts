import { type Database, sql, type Tx } from '@restante/service/database'
import {
  excludeCounting,
  LIVE_CONSUMERS,
  LIVE_GROUPS,
  type LiveConsumer,
  rebuildConsumer,
} from '../counting/running-rebuild.ts'
import { SUM_OF_ROW } from '../series/add.ts'
import { excludeSettling } from '../series/delete.ts'
import { codeOf, USAGE_SERIES } from '../series/series.ts'
import { createPartitions } from '../series/settle.ts'
import { uuidOf } from '../series/uuid-number.ts'
import { RebuildFailedError } from './plan.ts'
import { endRebuild, isRunning, rangesOf } from './store.ts'

/** Series that the entities of their owners make, not the events that a rebuild reads. */
const OF_ENTITIES = [codeOf('inbox_count'), codeOf('pod_count'), codeOf('domain_count')]
/** Rows that one statement moves, about. */
const SLICE = 50_000
/** More events of dead letters than that are no exception. */
const MOST_UNSEEN = 10_000

type Slice = [cutDay: number, from: string, until: string, kept: readonly string[], ofEntities: readonly number[]]

// By scope, as the tables are indexed. The last slice ends with the highest id.
const IN_SLICE = `
scope_id > $2::uuid and scope_id <= $3::uuid and day >= $1::int
   and not (scope_id = any($4::uuid[])) and not (series = any($5::smallint[]))`
const DELETE = ['arrivals', 'runs', 'totals'].map((table) =>
  sql<never, Slice>(`delete from ${table} where ${IN_SLICE}`),
)
// With their ids, which tell their order: that of what a statement inserts from a table is not.
const INSERT_RUNS = sql<never, Slice>(`
insert into runs (id, scope_id, tier, series, day, first_ms, last_ms, times, sums, before)
select id, scope_id, tier, series, day, first_ms, last_ms, times, sums, before from rebuilt where settled and ${IN_SLICE}`)
const INSERT_TOTALS = sql<never, [...Slice, usage: readonly number[]]>(`
insert into totals (scope_id, tier, series, day, total)
select scope_id, tier, series, day, sum(${SUM_OF_ROW})
  from rebuilt where settled and series = any($6::smallint[]) and ${IN_SLICE} group by scope_id, tier, series, day`)
const INSERT_ARRIVALS = sql<never, Slice>(`
insert into arrivals (scope_id, tier, series, day, first_ms, last_ms, times, sums)
select scope_id, tier, series, day, first_ms, last_ms, times, sums from rebuilt where not settled and ${IN_SLICE}
union all
select scope_id, tier, series, day, first_ms, last_ms, times, sums from adjustments where ${IN_SLICE}`)
const SIZE = sql<{ rows: number }, [cutDay: number]>(`
select (select count(*) from rebuilt)::float8 + (select count(*) from runs where day >= $1::int)::float8 as rows`)
const DAYS = sql<{ day: number }>('select distinct day from rebuilt where settled')
const KEPT = sql<{ id: string }>('select id from deleted_scopes where purged_at is null')

const UNSEEN = sql<{ event_id: string }, [rebuild: string, live: string, limit: number]>(`
select event_id from consumed as r
 where consumer = $1 and not exists (select from consumed as l where l.consumer = $2 and l.event_id = r.event_id)
 limit $3`)
const SEE = sql<never, [live: string, ids: readonly string[]]>(`
insert into consumed (consumer, event_id) select $1, id from unnest($2::text[]) as given (id) order by id
on conflict do nothing`)
const COMPARE = sql<never, [operator: string]>('insert into comparisons (operator) values ($1) on conflict do nothing')

/**
 * Replaces the live points of the days that were rebuilt, of the series that events make, by those of the rebuild; called when
 * it has read everything and the live consumers have too. Readers see all of the one or all of the other. What deletions and
 * comparisons have changed is kept, and a comparison follows.
 *
 * The points of a scope that is being deleted are left as they are: the rebuild may have only some of them, and what is
 * withdrawn above the scope must be what was counted there.
 */
export async function switchOver(db: Database, { id, cut_day, operator }: Switched): Promise<void> {
  // Only dead letters are left: an event that is counted from now on is marked by both.
  const unseen = await Promise.all(LIVE_CONSUMERS.map((consumer) => unseenBy(db, consumer, id)))
  const [size] = await db.query(SIZE, cut_day)
  const slices = slicesOf(Math.ceil((size?.rows ?? 0) / SLICE) + 1)
  await db.transaction(async (tx) => {
    await excludeCounting(tx)
    await excludeSettling(tx)
    if (!(await isRunning(tx, id)) || !(await hasReadAll(tx, id))) return
    const kept = (await tx.query(KEPT)).map((scope) => scope.id)
    const days = await tx.query(DAYS)
    await createPartitions(
      tx,
      days.map(({ day }) => day),
    )
    for (const [from, until] of slices) await moveSlice(tx, [cut_day, from, until, kept, OF_ENTITIES])
    // A dead letter that is replayed later is counted already.
    for (const { consumer, ids } of unseen) await tx.query(SEE, LIVE_GROUPS[consumer], ids)
    await endRebuild(tx, id, 'switched')
    await tx.query(COMPARE, operator)
  })
}

/** What a rebuild has of the events that a consumer counts, and the consumer has not. */
async function unseenBy(db: Database, consumer: LiveConsumer, rebuild: number) {
  const rows = await db.query(UNSEEN, rebuildConsumer(rebuild, consumer), LIVE_GROUPS[consumer], MOST_UNSEEN)
  if (rows.length === MOST_UNSEEN)
    throw new RebuildFailedError(`more than ${MOST_UNSEEN} events are dead letters: replay them first`)
  return { consumer, ids: rows.map(({ event_id }) => event_id) }
}

interface Switched {
  readonly id: number
  readonly cut_day: number
  readonly operator: string
}

async function hasReadAll(tx: Tx, id: number): Promise<boolean> {
  const ranges = await rangesOf(tx, id)
  return ranges?.every(({ next, until }) => next >= until) ?? false
}

async function moveSlice(tx: Tx, slice: Slice): Promise<void> {
  for (const statement of DELETE) await tx.query(statement, ...slice)
  await tx.query(INSERT_RUNS, ...slice)
  await tx.query(INSERT_TOTALS, ...slice, [...USAGE_SERIES.keys()])
  await tx.query(INSERT_ARRIVALS, ...slice)
}

/** Divides the ids of scopes into equal ranges: they are random. */
function slicesOf(count: number): [from: string, until: string][] {
  const highest = 2n ** 128n - 1n
  const bounds = Array.from({ length: count + 1 }, (_, index) => uuidOf((highest * BigInt(index)) / BigInt(count)))
  return bounds.slice(1).map((until, index) => [bounds[index] ?? until, until])
}
