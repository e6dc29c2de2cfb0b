import type { RecipientAnswer } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'

const FIND = sql<
  { uid: string; organization_id: string; pod_id: string; address: string; status: string },
  [addresses: string[]]
>(`
select i.uid, i.organization_id, i.pod_id, i.address, i.status
  from inboxes i join organizations o on o.id = i.organization_id
 where i.address = any($1::text[]) and i.deleted_at is null and o.deleting_at is null`)

/**
 * Tells for each address whether an inbox accepts its mail, in the given order, from the rows themselves: an
 * acknowledged pause or deletion takes effect here at once (identity 10.4).
 */
export async function resolveRecipients(db: Queryable, addresses: readonly string[]): Promise<RecipientAnswer[]> {
  const bases = addresses.map(baseAddress)
  const rows = await db.query(FIND, [...new Set(bases)])
  const found = new Map(rows.map((row) => [row.address, row]))
  return addresses.map((given, index) => {
    const row = found.get(bases[index] ?? '')
    if (row === undefined) return { status: 'unknown', given }
    const { uid: inbox_uid, organization_id, pod_id, address } = row
    const status = row.status === 'paused' ? 'paused' : 'deliver'
    return { status, given, organization_id, pod_id, inbox_uid, address }
  })
}

/** The inbox address of a recipient: without its plus tag, lower case (identity 8.3). */
export function baseAddress(address: string): string {
  const folded = address.trim().toLowerCase()
  const at = folded.lastIndexOf('@')
  const plus = folded.indexOf('+')
  return plus < 0 || plus > at ? folded : folded.slice(0, plus) + folded.slice(at)
}
