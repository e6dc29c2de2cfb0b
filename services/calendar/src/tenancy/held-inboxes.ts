import { type Queryable, sql } from '@restante/service/database'
import type { HeldInbox } from '@restante/tenancy'
import { INBOX_TABLES } from './tables.ts'

const PARTS = ['events', ...INBOX_TABLES].map((table) => {
  const described = table === 'calendars' ? 'pod_id, address' : 'null::uuid as pod_id, null::text as address'
  return `(select distinct on (inbox_uid) inbox_uid, organization_id, ${described} from ${table}
            where inbox_uid > $1 order by inbox_uid limit $2)`
})
const HELD = sql<HeldInbox, [after: string, rows: number]>(
  `select distinct on (inbox_uid) inbox_uid, organization_id, pod_id, address
     from (${PARTS.join(' union all ')}) as held
    order by inbox_uid, address nulls last limit $2`,
)

/** The inboxes of which any table has a row, by uid, after a uid. */
export function heldInboxes(on: Queryable, after: string, rows: number): Promise<HeldInbox[]> {
  return on.query(HELD, after, rows)
}
