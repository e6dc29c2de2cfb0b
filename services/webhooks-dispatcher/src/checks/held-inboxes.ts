import { type Queryable, sql } from '@restante/service/database'
import type { HeldInbox } from '@restante/tenancy'

const HELD = sql<Omit<HeldInbox, 'inbox_uid'> & { inbox_uid: string | null }, [after: string, rows: number]>(`
select distinct on (inbox_uid) inbox_uid, organization_id, pod_id, inbox_id as address
  from webhooks
 where inbox_uid > $1
 order by inbox_uid
 limit $2`)

/** The inboxes that have webhooks of their own, by uid, after a uid. */
export async function heldInboxes(db: Queryable, after: string, rows: number): Promise<HeldInbox[]> {
  const found = await db.query(HELD, after, rows)
  return found.flatMap(({ inbox_uid, ...row }) => (inbox_uid === null ? [] : [{ ...row, inbox_uid }]))
}
