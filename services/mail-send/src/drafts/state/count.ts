import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'

type Counted = InternalResponseOf<'mail-send.countDrafts'>

interface Page {
  readonly at: Date
  readonly inboxes: Counted['inboxes']
  /** The last inbox that was looked at, also where it is left out; null when there are no more after it. */
  readonly next: string | null
  readonly unpublished_since: Date | null
}

// A loose index scan finds the inboxes, so that the statement reads the drafts of this page only, whatever the planner
// believes about their number.
const PAGE = sql<Page, [after: string, rows: number]>(`
with recursive held as (
  (select organization_id, pod_id, inbox_uid, 1 as place from drafts where inbox_uid > $1 order by inbox_uid limit 1)
  union all
  select next.organization_id, next.pod_id, next.inbox_uid, held.place + 1
    from held, lateral (select organization_id, pod_id, inbox_uid from drafts
                         where inbox_uid > held.inbox_uid order by inbox_uid limit 1) as next
   where held.place < $2
), counted as (
  select organization_id, pod_id, inbox_uid, total.*
    from held, lateral (select sum(size) as bytes from drafts where inbox_uid = held.inbox_uid) as total
   where not exists (select from deleted_scopes where id = held.inbox_uid)
)
select statement_timestamp() as at, (select inbox_uid from held where place = $2) as next,
       (select created_at from outbox where published_at is null and refused is null order by position limit 1) as unpublished_since,
       coalesce((select json_agg(counted order by inbox_uid) from counted), '[]') as inboxes`)

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Counts the bytes of the drafts of a page of inboxes, in one snapshot of the database. Deleted ones are left out. */
export async function countDrafts(
  db: Queryable,
  { after = FIRST, limit }: InternalRequestOf<'mail-send.countDrafts'>,
): Promise<Counted> {
  const [page] = await db.query(PAGE, after, limit)
  if (page === undefined) throw new Error('the drafts were not counted')
  const { at, inboxes, next, unpublished_since: since } = page
  return {
    at: at.toISOString(),
    inboxes,
    ...(next !== null && { next }),
    ...(since !== null && { unpublished_since: since.toISOString() }),
  }
}
