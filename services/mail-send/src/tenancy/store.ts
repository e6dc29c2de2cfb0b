import type { DeletedInbox } from '@restante/contracts'
import { type Queryable, sql, type Tx } from '@restante/service'

const HOLD = sql<never, [inboxUid: string]>(`select pg_advisory_xact_lock_shared(hashtextextended('inbox ' || $1, 0))`)
const LOCK = sql<never, [inboxUid: string]>(`select pg_advisory_xact_lock(hashtextextended('inbox ' || $1, 0))`)

const FIND = sql<{ purged: boolean }, [inboxUid: string]>(
  'select purged_at is not null as purged from deleted_inboxes where inbox_uid = $1',
)

const BURY_INBOX = sql<never, [inboxUid: string, organizationId: string, deletedAt: string]>(`
insert into deleted_inboxes (inbox_uid, organization_id, deleted_at) values ($1, $2, $3::timestamptz)
on conflict do nothing`)
const BURY_ORGANIZATION = sql<never, [organizationId: string, deletedAt: string]>(
  'insert into deleted_organizations (organization_id, deleted_at) values ($1, $2::timestamptz) on conflict do nothing',
)

/**
 * Keeps an inbox from being marked deleted until the transaction ends: rows that the purge does not see would stay.
 * @returns whether it still exists, as far as this service knows.
 */
export async function holdInbox(tx: Tx, inboxUid: string): Promise<boolean> {
  await tx.query(HOLD, inboxUid)
  return (await findDeleted(tx, inboxUid)) === undefined
}

/** The state of a deleted inbox; undefined while its deletion is not known here. */
export async function findDeleted(on: Queryable, inboxUid: string): Promise<{ purged: boolean } | undefined> {
  const [row] = await on.query(FIND, inboxUid)
  return row
}

/** From this commit on nothing is accepted for the inbox; what only it could request is purged afterwards. */
export async function markInboxDeleted(
  tx: Tx,
  inbox: Pick<DeletedInbox, 'inbox_uid' | 'organization_id' | 'deleted_at'>,
): Promise<void> {
  await tx.query(LOCK, inbox.inbox_uid)
  await tx.query(BURY_INBOX, inbox.inbox_uid, inbox.organization_id, inbox.deleted_at)
}

/** Its inboxes were deleted before, one by one. */
export async function markOrganizationDeleted(tx: Tx, organizationId: string, deletedAt: string): Promise<void> {
  await tx.query(BURY_ORGANIZATION, organizationId, deletedAt)
}
