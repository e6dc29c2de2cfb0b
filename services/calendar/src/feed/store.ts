import { type Queryable, sql, type Tx } from '@restante/service/database'
import { hasCalendarAccess } from '../access/store.ts'
import type { CalendarOwner } from '../store/index.ts'

/** The calendar that a feed shows. */
export interface FeedRow {
  readonly inbox_uid: string
  readonly organization_id: string
  readonly address: string
}

const PUT = sql<
  { created_at: Date },
  [inboxUid: string, organizationId: string, podId: string, hash: Uint8Array, takeOvers: number]
>(
  `insert into feeds (inbox_uid, organization_id, pod_id, hash, take_overs, created_at) values ($1, $2, $3, $4, $5, now())
   on conflict (inbox_uid) do update
     set hash = excluded.hash, take_overs = excluded.take_overs, created_at = excluded.created_at
   returning created_at`,
)

/** Stores the feed of a calendar in place of an earlier one. @returns when. */
export async function putFeed(
  tx: Tx,
  { organizationId, podId, inboxUid }: CalendarOwner,
  { hash, takeOvers }: { readonly hash: Uint8Array; readonly takeOvers: number },
): Promise<Date> {
  const [row] = await tx.query(PUT, inboxUid, organizationId, podId, hash, takeOvers)
  if (row === undefined) throw new Error('an upsert returns its row')
  return row.created_at
}

const DELETE = sql<{ inbox_uid: string }, [organizationId: string, inboxUid: string]>(
  'delete from feeds where organization_id = $1 and inbox_uid = $2 returning inbox_uid',
)

/** @returns false when the calendar has no feed. */
export async function deleteFeed(on: Queryable, organizationId: string, inboxUid: string): Promise<boolean> {
  return (await on.query(DELETE, organizationId, inboxUid)).length > 0
}

const FIND = sql<FeedRow, [hash: Uint8Array]>(
  `select feeds.inbox_uid, feeds.organization_id, calendars.address
     from feeds join calendars on calendars.inbox_uid = feeds.inbox_uid where feeds.hash = $1`,
)

/** The calendar of a feed, unless calendars of its organization are switched off. */
export async function findFeed(on: Queryable, hash: Uint8Array): Promise<FeedRow | undefined> {
  const [row] = await on.query(FIND, hash)
  return row && (await hasCalendarAccess(on, row.organization_id)) ? row : undefined
}

/** An event at its place in a feed. */
export interface FeedEvent {
  readonly id: string
  readonly start_at: Date
}

const EVENTS = sql<FeedEvent, [inboxUid: string, since: Date, startAt: Date | null, id: string, rows: number]>(
  `select id, start_at from events
    where inbox_uid = $1 and status <> 'cancelled' and (last_end_at is null or last_end_at > $2)
      and ($3::timestamptz is null or (start_at, id) > ($3, $4::uuid))
    order by start_at, id limit $5`,
)
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** The next events of a calendar that have not all ended before a time, in the order of their first starts. */
export function listFeedEvents(
  on: Queryable,
  inboxUid: string,
  since: Date,
  after: FeedEvent | undefined,
  rows: number,
): Promise<FeedEvent[]> {
  return on.query(EVENTS, inboxUid, since, after?.start_at ?? null, after?.id ?? NO_ID, rows)
}
