import { type Queryable, sql } from '@restante/service/database'
import type { HeldInbox } from '@restante/tenancy'
import { INBOX_TABLES } from './tables.ts'

/** Tables that also have the pod and the address of an inbox. */
const DESCRIBED: readonly string[] = ['tickets', 'codes', 'accounts']

const PARTS = INBOX_TABLES.map((table) => {
  const described = DESCRIBED.includes(table) ? 'pod_id, address' : 'null::uuid as pod_id, null::text as address'
  return `(select distinct on (inbox_uid) inbox_uid, organization_id, ${described} from ${table}
            where inbox_uid > $1 and organization_id is not null order by inbox_uid limit $2)`
})
const HELD = sql<
  { inbox_uid: string | null; organization_id: string | null; pod_id: string | null; address: string | null },
  [after: string, rows: number]
>(
  `select distinct on (inbox_uid) inbox_uid, organization_id, pod_id, address
     from (${PARTS.join(' union all ')}) as held
    order by inbox_uid, address nulls last limit $2`,
)

/** The inboxes of which any table has a row, by uid, after a uid. */
export async function heldInboxes(on: Queryable, after: string, rows: number): Promise<HeldInbox[]> {
  const found = await on.query(HELD, after, rows)
  return found.flatMap(({ inbox_uid, organization_id, ...row }) =>
    inbox_uid === null || organization_id === null ? [] : [{ ...row, inbox_uid, organization_id }],
  )
}
