import type { Schedule } from '@restante/jobs'
import { sql, type Tx } from '@restante/service/database'
import type { CalendarTimers } from '../timers/kinds.ts'

/** Events deleted in one statement. */
const BATCH = 500

const EARLIER_EVENTS = sql<{ id: string }, [organizationId: string, takeOvers: number, rows: number]>(`
with earlier as (
  select id from events where organization_id = $1 and take_overs < $2 order by id limit $3 for update),
gone as (delete from events where id in (select id from earlier) returning id, inbox_uid),
keys as (delete from create_keys where inbox_uid in (select inbox_uid from gone) and event_id in (select id from gone)),
counts as (
  update calendars set event_count = event_count - deleted
    from (select inbox_uid, count(*)::int as deleted from gone group by inbox_uid) as by_inbox
   where calendars.inbox_uid = by_inbox.inbox_uid)
select id from gone`)
const EARLIER_FEEDS = sql<never, [organizationId: string, takeOvers: number]>(
  'delete from feeds where organization_id = $1 and take_overs < $2',
)
/** Also about events that are gone, whose cancellation the successor may have queued meanwhile. */
const EARLIER_MAILS = sql<{ id: string }, [organizationId: string, takeOvers: number]>(
  'delete from outgoing_mails where organization_id = $1 and take_overs < $2 returning id',
)

/**
 * Deletes the events and feeds that were made before a take-over that the human has confirmed, silently, and what they
 * still have to mail (identity 5.1). Repeating it, in any order, has one effect: what the successor makes has the number
 * of this take-over or a higher one.
 */
export async function deleteEarlier(
  tx: Tx,
  timers: Schedule<CalendarTimers>,
  { organization_id: id, take_overs }: { organization_id: string; take_overs: number },
): Promise<void> {
  await tx.query(EARLIER_FEEDS, id, take_overs)
  for (let ids: string[] | undefined; ids === undefined || ids.length === BATCH; ) {
    ids = (await tx.query(EARLIER_EVENTS, id, take_overs, BATCH)).map((event) => event.id)
    // A timer whose attempt is just being concluded finds no event.
    await timers.cancelIdle(tx, 'boundary', ids)
  }
  const mails = await tx.query(EARLIER_MAILS, id, take_overs)
  await timers.cancelIdle(
    tx,
    'invitation-out',
    mails.map((mail) => mail.id),
  )
}
