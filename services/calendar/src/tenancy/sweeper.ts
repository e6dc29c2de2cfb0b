import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { type Sweep, sql, sweepOf } from '@restante/service/database'
import { takeOvers } from '../take-overs/table.ts'

/** A PostgreSQL interval of so many milliseconds. */
const interval = (ms: number): string => `interval '${ms} milliseconds'`

/** Rows that nothing asks for any more (calendar 18). */
const OVER: readonly (readonly [table: string, condition: string])[] = [
  // One that runs still gets its end, however late.
  ['begun_dates', `end_at < now() - ${interval(CALENDAR_LIMITS.dateKept)} and state <> 'running'`],
  ['deletions', 'expires_at < now()'],
  ['take_overs', takeOvers.isOld],
]

/**
 * Dates that were taken out of their series. Of one that ran the row stays as long as its record, which would bring it back.
 * Where the series names the slot in its exdates, the row stays without its document, as the mark that a date was there
 * (calendar 8); cancelled in 1970, it is not looked at again. The hour is for clocks that differ from that of the database.
 */
const REMOVED: Sweep = sql(
  `with over as (
       select ctid, event_id, slot from cancelled_dates
        where cancelled_at < now() - ${interval(CALENDAR_LIMITS.dateKept)} - interval '1 hour' and cancelled_at > 'epoch'
          and not exists (select from begun_dates as ran
                           where ran.event_id = cancelled_dates.event_id and ran.slot = cancelled_dates.slot)
        limit $1 for update skip locked),
     named as (
       select over.ctid from over join events on events.id = over.event_id where over.slot = any(events.exdates)),
     marked as (
       update cancelled_dates set document = 'null', cancelled_at = 'epoch'
        where ctid = any(array(select ctid from named)) returning 1),
     gone as (
       delete from cancelled_dates
        where ctid = any(array(select ctid from over except select ctid from named)) returning 1)
     select ((select count(*) from marked) + (select count(*) from gone))::int as swept`,
)

/** In this order: what ends the record of a date comes before what says that it was taken out. */
export const SWEEPS: readonly Sweep[] = [...OVER.map(([table, condition]) => sweepOf(table, condition)), REMOVED]
