import type { RecordRange } from '@restante/messaging'
import { type Database, type Queryable, sql, type Tx } from '@restante/service/database'
import { excludeCounting, LIVE_CONSUMERS, rebuildConsumer } from '../counting/running-rebuild.ts'

/** A rebuild and how far it has come. */
export interface RebuildRow {
  readonly id: number
  readonly state: 'reading' | 'switched' | 'failed' | 'abandoned'
  readonly operator: string
  readonly cut_day: number
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly reason: string | null
  readonly read: number
  readonly total: number
}

interface PartitionRow {
  readonly topic: string
  readonly partition: number
  readonly first: number
  readonly next: number
  readonly until: number
}

type Partition = [rebuildId: number, topic: string, partition: number]

const LAST = sql<RebuildRow>(`
select r.id, r.state, r.operator, r.cut_day, r.started_at, r.ended_at, r.reason,
       coalesce(sum(p.next - p.first), 0)::float8 as read, coalesce(sum(p.until - p.first), 0)::float8 as total
  from rebuilds as r left join rebuild_partitions as p on p.rebuild_id = r.id
 where r.id = (select max(id) from rebuilds)
 group by r.id`)
const RUNNING = sql<{ id: number }>(`select id from rebuilds where state = 'reading' for update`)
const START = sql<{ id: number }, [operator: string, cutDay: number]>(
  'insert into rebuilds (operator, cut_day) values ($1, $2) returning id',
)
const ABANDON = sql<never>(`update rebuilds set state = 'abandoned' where state = 'failed'`)
const END = sql<never, [id: number, state: string, reason: string | null]>(
  'update rebuilds set state = $2, ended_at = now(), reason = $3 where id = $1',
)
const EMPTY = sql<never>('truncate rebuilt')
const PLAN = sql<never, [...Partition, first: number, until: number]>(`
insert into rebuild_partitions (rebuild_id, topic, partition, first, next, until)
values ($1, $2, $3::int, $4::bigint, $4::bigint, $5::bigint) on conflict do nothing`)
const PARTITIONS = sql<PartitionRow, [id: number]>(`
select topic, partition, first::float8 as first, next::float8 as next, until::float8 as until
  from rebuild_partitions where rebuild_id = $1 order by topic, partition`)
const ADVANCE = sql<{ next: string }, [...Partition, from: number, to: number]>(`
update rebuild_partitions set next = $5::bigint
 where rebuild_id = $1 and topic = $2 and partition = $3::int and next = $4::bigint
returning next`)
const MARKED = sql<{ id: number }>(`select id from rebuilds where marked and state <> 'reading' order by id`)
const FORGET_MARKS = sql<{ event_id: string }, [consumer: string, limit: number]>(`
delete from consumed where consumer = $1
   and event_id in (select event_id from consumed where consumer = $1 limit $2) returning event_id`)
const UNMARKED = sql<never, [id: number]>('update rebuilds set marked = false where id = $1')

const MARKS = 5_000

/** The last rebuild, running or not. */
export async function lastRebuild(on: Queryable): Promise<RebuildRow | undefined> {
  const [row] = await on.query(LAST)
  return row
}

/** Starts a rebuild, which events that are counted from now on are part of. @returns false when one is running. */
export function startRebuild(db: Database, operator: string, cutDay: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    await excludeCounting(tx)
    if ((await tx.query(RUNNING)).length > 0) return false
    await tx.query(ABANDON)
    await tx.query(START, operator, cutDay)
    return true
  })
}

/** Ends the running rebuild, if it is this one, and leaves nothing of what it has counted. */
export async function endRebuild(tx: Tx, id: number, state: 'switched' | 'failed', reason?: string): Promise<void> {
  await tx.query(END, id, state, reason ?? null)
  await tx.query(EMPTY)
}

/** Ends a rebuild that cannot succeed. */
export async function failRebuild(db: Database, id: number, reason: string): Promise<void> {
  await db.transaction(async (tx) => {
    await excludeCounting(tx)
    if (await isRunning(tx, id)) await endRebuild(tx, id, 'failed', reason)
  })
}

/** Whether a rebuild is running; it does not end until the transaction does. */
export async function isRunning(tx: Tx, id: number): Promise<boolean> {
  return (await tx.query(RUNNING)).some((row) => row.id === id)
}

/** Stores what a rebuild has to read. */
export async function planReading(db: Database, id: number, ranges: readonly RecordRange[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { topic, partition, offset, until } of ranges) await tx.query(PLAN, id, topic, partition, offset, until)
  })
}

/** A range that a rebuild reads, as a whole, and where it goes on. */
export interface PlannedRange extends RecordRange {
  readonly next: number
}

/** What a rebuild has to read and has read; undefined when that is not known yet. */
export async function rangesOf(on: Queryable, id: number): Promise<PlannedRange[] | undefined> {
  const rows = await on.query(PARTITIONS, id)
  if (rows.length === 0) return undefined
  return rows.map(({ first, ...range }) => ({ ...range, offset: first }))
}

/** Moves a range on. @returns false when another process has done so: the transaction must not count the records then. */
export async function advance(tx: Tx, id: number, range: RecordRange, next: number): Promise<boolean> {
  return (await tx.query(ADVANCE, id, range.topic, range.partition, range.offset, next)).length > 0
}

/** Deletes the marks of rebuilds that have ended. */
export async function forgetMarks(db: Database, stopping: AbortSignal): Promise<void> {
  for (const { id } of await db.query(MARKED)) {
    for (const consumer of LIVE_CONSUMERS) {
      for (let deleted = MARKS; deleted === MARKS; ) {
        if (stopping.aborted) return
        deleted = (await db.query(FORGET_MARKS, rebuildConsumer(id, consumer), MARKS)).length
      }
    }
    await db.query(UNMARKED, id)
  }
}
