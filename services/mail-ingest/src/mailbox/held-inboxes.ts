import { type Queryable, sql } from '@restante/service/database'
import type { HeldInbox } from '@restante/tenancy'

// One row per inbox, by a loose index scan.
const HELD = sql<HeldInbox, [after: string, rows: number]>(`
with recursive held as (
  (select organization_id, pod_id, inbox_uid, inbox_address, 1 as place
     from messages where inbox_uid > $1 order by inbox_uid limit 1)
  union all
  select next.organization_id, next.pod_id, next.inbox_uid, next.inbox_address, held.place + 1
    from held, lateral (select organization_id, pod_id, inbox_uid, inbox_address from messages
                         where inbox_uid > held.inbox_uid order by inbox_uid limit 1) as next
   where held.place < $2
)
select inbox_uid, organization_id, pod_id, inbox_address as address from held order by inbox_uid`)

/** The inboxes that have messages, by uid, after a uid. */
export function heldInboxes(db: Queryable, after: string, rows: number): Promise<HeldInbox[]> {
  return db.query(HELD, after, rows)
}
