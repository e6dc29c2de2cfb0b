import type { RecipientAnswer } from '@restante/contracts/internal'
import { type Queryable, sql } from '@restante/service/database'

interface FoundInbox {
  readonly uid: string
  readonly organization_id: string
  readonly pod_id: string
  readonly address: string
  readonly status: string
}

const FIND = sql<FoundInbox, [addresses: string[]]>(`
select i.uid, i.organization_id, i.pod_id, i.address, i.status
  from inboxes i join organizations o on o.id = i.organization_id
 where i.address = any($1::text[]) and i.deleted_at is null and o.deleting_at is null
 order by i.created_at desc, i.uid`)

/**
 * Tells for each address whether an inbox accepts its mail, in the given order, from the rows themselves: an
 * acknowledged pause or deletion takes effect here at once (identity 10.4). Where several organizations have had the
 * domain of an address, all their inboxes are named, the newest first: who holds the domain is known to its owner.
 */
export async function resolveRecipients(db: Queryable, addresses: readonly string[]): Promise<RecipientAnswer[]> {
  const bases = addresses.map(baseAddress)
  const rows = await db.query(FIND, [...new Set(bases)])
  const found = Map.groupBy(rows, (row) => row.address)
  return addresses.map((given, index) => {
    const address = bases[index] ?? ''
    const [inbox, ...others] = (found.get(address) ?? []).map(hosted)
    if (inbox === undefined) return { status: 'unknown', given }
    return { ...inbox, given, address, ...(others.length > 0 && { others }) }
  })
}

function hosted({ uid: inbox_uid, organization_id, pod_id, status }: FoundInbox) {
  return { status: status === 'paused' ? 'paused' : 'deliver', organization_id, pod_id, inbox_uid } as const
}

/** The inbox address of a recipient: without its plus tag, lower case (identity 8.3). */
export function baseAddress(address: string): string {
  const folded = address.trim().toLowerCase()
  const at = folded.lastIndexOf('@')
  const plus = folded.indexOf('+')
  return plus < 0 || plus > at ? folded : folded.slice(0, plus) + folded.slice(at)
}
