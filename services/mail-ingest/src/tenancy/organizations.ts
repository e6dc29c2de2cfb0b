import { sql, type Tx } from '@restante/service'

const BURY = sql<never, [organizationId: string, deletedAt: string]>(
  'insert into deleted_organizations (organization_id, deleted_at) values ($1, $2::timestamptz) on conflict do nothing',
)

const TO_PURGE = sql<{ organization_id: string }>(`
select organization_id from deleted_organizations where purged_at is null
 order by deleted_at limit 1
   for update skip locked`)
const FORGET_MAIL = sql<never, [organizationId: string]>(
  'delete from receiving_organizations where organization_id = $1',
)
const FORGET_ADDRESSES = sql<{ inbox_uid: string }, [organizationId: string, rows: number]>(`
update deleted_inboxes set address = null
 where inbox_uid in (select inbox_uid from deleted_inboxes
                      where organization_id = $1 and address is not null limit $2)
returning inbox_uid`)
const PURGED = sql<never, [organizationId: string]>(
  'update deleted_organizations set purged_at = now() where organization_id = $1',
)

const BATCH = 1_000

/** Stores the tombstone of a deleted organization; its inboxes were deleted before, one by one. */
export async function markOrganizationDeleted(tx: Tx, organizationId: string, deletedAt: string): Promise<void> {
  await tx.query(BURY, organizationId, deletedAt)
}

/**
 * Deletes what is stored of a deleted organization apart from the mail of its inboxes, in one batch: that it received
 * mail, and the addresses for late events, which no longer have a recipient.
 * @returns whether there may be more to do.
 */
export async function purgeOrganization(tx: Tx): Promise<boolean> {
  const [organization] = await tx.query(TO_PURGE)
  if (!organization) return false
  const id = organization.organization_id
  await tx.query(FORGET_MAIL, id)
  const forgotten = await tx.query(FORGET_ADDRESSES, id, BATCH)
  if (forgotten.length < BATCH) await tx.query(PURGED, id)
  return true
}
