import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'

type Counted = InternalResponseOf<'mail-ingest.countMailboxes'>

interface Page {
  readonly at: Date
  readonly mailboxes: Counted['mailboxes']
  /** The last mailbox that was looked at, also where it is left out; null when there are no more after it. */
  readonly next: string | null
  readonly unpublished_since: Date | null
}

// A loose index scan finds the mailboxes, so that the statement reads the threads of this page only, whatever the
// planner believes about their number.
const PAGE = sql<Page, [after: string, rows: number]>(`
with recursive held as (
  (select organization_id, pod_id, inbox_uid, 1 as place from threads where inbox_uid > $1 order by inbox_uid limit 1)
  union all
  select next.organization_id, next.pod_id, next.inbox_uid, held.place + 1
    from held, lateral (select organization_id, pod_id, inbox_uid from threads
                         where inbox_uid > held.inbox_uid order by inbox_uid limit 1) as next
   where held.place < $2
), counted as (
  select organization_id, pod_id, inbox_uid, total.*
    from held, lateral (select sum(message_count) as messages, count(*) as threads, sum(size) as bytes
                          from threads where inbox_uid = held.inbox_uid) as total
   where not exists (select from deleted_scopes where id = held.inbox_uid)
)
select statement_timestamp() as at, (select inbox_uid from held where place = $2) as next,
       (select created_at from outbox where published_at is null and refused is null order by position limit 1) as unpublished_since,
       coalesce((select json_agg(counted order by inbox_uid) from counted), '[]') as mailboxes`)

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Counts what the mailboxes of a page hold, in one snapshot of the database. Those of deleted inboxes are left out. */
export async function countMailboxes(
  db: Queryable,
  { after = FIRST, limit }: InternalRequestOf<'mail-ingest.countMailboxes'>,
): Promise<Counted> {
  const [page] = await db.query(PAGE, after, limit)
  if (page === undefined) throw new Error('the mailboxes were not counted')
  const { at, mailboxes, next, unpublished_since: since } = page
  return {
    at: at.toISOString(),
    mailboxes,
    ...(next !== null && { next }),
    ...(since !== null && { unpublished_since: since.toISOString() }),
  }
}
