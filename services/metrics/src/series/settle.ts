import { type Database, type Queryable, type Statement, sql, sqlUnprepared, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { POINTS_AS_ROWS, SUM_OF_ROW } from './add.ts'
import { excludeSettling } from './delete.ts'
import { DueGroups, type Group } from './due.ts'
import { EVENT_SERIES, USAGE_SERIES } from './series.ts'
import { settleDuration, settledAt } from './telemetry.ts'

/**
 * Most points of a run, whose row fills one page of PostgreSQL: it has the times of events, and of all else sums too. The
 * arrays are stored plain, so the row is neither compressed nor stored out of line.
 */
export const RUN_POINTS = { events: 1_900, others: 640 } as const
/** The part of them with which a run counts as full: what arrives later gets another. */
const FULL = 0.9
/** Days of a partition. A question about 90 days is planned for all of theirs, which costs more than what fewer would. */
const PARTITION_DAYS = 30
/** Series and days that one transaction settles. */
const BATCH = 200
/** Series and days that are looked for at once. */
const LISTED = 20 * BATCH
const EVERY_MS = 10_000

type Groups = [
  scopeIds: readonly string[],
  tiers: readonly number[],
  series: readonly number[],
  days: readonly number[],
  usage: readonly number[],
  events: readonly number[],
]

/** Most points of a run of a series. @param events the parameter with the numbers of the series of events */
const mostPoints = (series: string, events: string) =>
  `case when ${series} = any(${events}::smallint[]) then ${RUN_POINTS.events} else ${RUN_POINTS.others} end`

/**
 * Divides `points` of series and days into runs: `running` is the sum in the run of each, and `total` in the day. Rows that are
 * made of them are inserted in order: ids tell the order of runs that begin in the same millisecond.
 */
export const divided = (events: string) => `
numbered as (
  select *, sum(value) over each_day as total, row_number() over each_day as n
    from points window each_day as (partition by scope_id, tier, series, day order by ms rows unbounded preceding)),
assigned as (
  select *, (n - 1) / ${mostPoints('series', events)} as run from numbered),
summed as (
  select *, sum(value) over (partition by scope_id, tier, series, day, run order by n)::bigint as running from assigned)`

// Runs that overlap what is new, or are not full, are divided again together with it. Only the last run of a day may be not full,
// so those that stay are before all others.
const SETTLE = sql<never, Groups>(`
with due as (select * from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::int[]) as given (scope_id, tier, series, day)),
moved as (
  delete from arrivals as a using due as d
   where (a.scope_id, a.tier, a.series, a.day) = (d.scope_id, d.tier, d.series, d.day)
  returning a.scope_id, a.tier, a.series, a.day, a.first_ms, a.times, a.sums),
counted as (
  insert into totals (scope_id, tier, series, day, total)
  select scope_id, tier, series, day, sum(${SUM_OF_ROW})
    from moved where series = any($5::smallint[]) group by scope_id, tier, series, day
  on conflict (scope_id, tier, series, day) do update set total = totals.total + excluded.total),
reopened as (
  delete from runs as r
   using (select scope_id, tier, series, day, min(first_ms) as first_ms from moved group by 1, 2, 3, 4) as m
   where (r.scope_id, r.tier, r.series, r.day) = (m.scope_id, m.tier, m.series, m.day)
     and (r.last_ms >= m.first_ms or cardinality(r.times) < ${FULL} * ${mostPoints('r.series', '$6')})
  returning r.scope_id, r.tier, r.series, r.day, r.times, r.sums),
kept as (
  select d.*, coalesce(stored.total, 0) - coalesce(again.total, 0) as total
    from due as d
    left join lateral (
      select before + ${SUM_OF_ROW} as total from runs as r
       where (r.scope_id, r.tier, r.series, r.day) = (d.scope_id, d.tier, d.series, d.day)
       order by first_ms desc, id desc limit 1) as stored on true
    left join (select scope_id, tier, series, day, sum(${SUM_OF_ROW}) as total from reopened group by 1, 2, 3, 4) as again
           using (scope_id, tier, series, day)),
points as (
  select p.scope_id, p.tier, p.series, p.day, point.ms,
         case when p.sums = '{}' then 1 else p.sums[point.n] - coalesce(p.sums[point.n - 1], 0) end as value
    from (select scope_id, tier, series, day, times, sums from moved union all select * from reopened) as p
   cross join lateral unnest(p.times) with ordinality as point (ms, n)),${divided('$6')}
insert into runs (scope_id, tier, series, day, first_ms, last_ms, times, sums, before)
select scope_id, tier, series, day, first_ms, last_ms, times, sums,
       preceding + (select k.total from kept as k
                     where (k.scope_id, k.tier, k.series, k.day) = (r.scope_id, r.tier, r.series, r.day))
  from (select scope_id, tier, series, day, ${POINTS_AS_ROWS}, min(total - running) from summed
         group by scope_id, tier, series, day, run
         order by scope_id, tier, series, day, run)
    as r (scope_id, tier, series, day, first_ms, last_ms, times, sums, preceding)`)

// Those that this service has created: a partition of another name is not known to hold days that are over.
const PARTITIONS = sql<{ name: string; first: number }>(`
select c.relname as name, substring(c.relname from '_from_(\\d+)$')::int as first
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
 where i.inhparent = 'runs'::regclass and c.relname ~ '^runs_from_\\d+$'`)

/** The statement that creates the partition whose first day is given. */
export function createPartition(first: number): Statement<never, []> {
  const next = first + PARTITION_DAYS
  return sqlUnprepared<never>(
    `create table runs_from_${first} partition of runs for values from (${first}) to (${next})`,
  )
}

/** The statement that drops a partition. */
export function dropPartition(name: string): Statement<never, []> {
  return sqlUnprepared<never>(`drop table ${name}`)
}

/**
 * Settles arrived points: divides them, together with the runs that they belong to, into rows of a page, and
 * adds running totals. In one transaction, so a reader sees each point once.
 */
export class Settler extends Periodic {
  readonly #db: Database
  readonly #due = new DueGroups()

  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({ name: 'settler', everyMs: EVERY_MS, log, work: (stopping) => this.settle(stopping) })
    this.#db = db
  }

  override async start(): Promise<void> {
    settledAt.setToCurrentTime()
    await super.start()
  }

  /** Settles what is due, or the process stops. */
  async settle(stopping?: AbortSignal): Promise<void> {
    for (let listed = LISTED; listed === LISTED; ) {
      const groups = await this.#due.list(this.#db, LISTED)
      listed = groups.length
      // Another process may have settled some of them in the meantime: nothing is left to do for these.
      for (let from = 0; from < groups.length; from += BATCH) {
        if (stopping?.aborted) return
        const measured = settleDuration.startTimer()
        await this.#db.transaction(async (tx) => {
          await excludeSettling(tx)
          await settleGroups(tx, groups.slice(from, from + BATCH))
        })
        measured()
      }
    }
    settledAt.setToCurrentTime()
  }
}

async function settleGroups(tx: Tx, groups: readonly Group[]): Promise<void> {
  const days = groups.map(({ day }) => day)
  await createPartitions(tx, days)
  await tx.query(
    SETTLE,
    groups.map(({ scope_id }) => scope_id),
    groups.map(({ tier }) => tier),
    groups.map(({ series }) => series),
    days,
    [...USAGE_SERIES.keys()],
    EVENT_SERIES,
  )
}

/** Creates the partitions of days that have none; settling is excluded. */
export async function createPartitions(tx: Tx, days: readonly number[]): Promise<void> {
  const existing = new Set((await tx.query(PARTITIONS)).map(({ first }) => first))
  for (const first of new Set(days.map((day) => day - (day % PARTITION_DAYS)))) {
    if (existing.has(first)) continue
    await tx.query(createPartition(first))
  }
}

/** Drops the partitions of runs in which every day is before the given one. @returns their names */
export async function dropPartitions(db: Queryable, before: number): Promise<string[]> {
  const old = (await db.query(PARTITIONS)).filter(({ first }) => first + PARTITION_DAYS <= before)
  for (const { name } of old) await db.query(dropPartition(name))
  return old.map(({ name }) => name)
}
