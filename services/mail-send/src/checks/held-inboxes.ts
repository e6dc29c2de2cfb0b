import { type Queryable, sql } from '@restante/service/database'
import type { HeldInbox } from '@restante/tenancy'

// One row per inbox: the recursion goes from inbox to inbox in an index of each table.
const NEXT = `
select uid from (
  (select inbox_uid as uid from sends where inbox_uid > held.uid order by inbox_uid limit 1)
  union all
  (select inbox_uid from drafts where inbox_uid > held.uid order by inbox_uid limit 1)
) as candidates
 order by uid
 limit 1`
const HELD = sql<HeldInbox, [after: string, rows: number]>(`
with recursive held as (
  select $1::uuid as uid, 0 as place
  union all
  select (${NEXT}), held.place + 1
    from held
   where held.uid is not null and held.place < $2
)
select held.uid as inbox_uid, coalesce(s.organization_id, d.organization_id) as organization_id,
       coalesce(s.pod_id, d.pod_id) as pod_id, d.inbox_address as address
  from held
  left join lateral (select organization_id, pod_id from sends where inbox_uid = held.uid limit 1) s on true
  left join lateral (select organization_id, pod_id, inbox_address from drafts where inbox_uid = held.uid limit 1) d on true
 where held.place > 0 and held.uid is not null
 order by held.uid`)

/** The inboxes that have sent messages or drafts, by uid, after a uid. */
export function heldInboxes(db: Queryable, after: string, rows: number): Promise<HeldInbox[]> {
  return db.query(HELD, after, rows)
}
