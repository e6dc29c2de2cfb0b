import { type Queryable, sql } from '@restante/service'

const FORGET_INBOX_KEYS = sql<never, [inboxUid: string]>('delete from idempotency_keys where inbox_uid = $1')
const FORGET_INBOX_COPIES = sql<never, [inboxUid: string]>(
  'update sends set copy = null where inbox_uid = $1 and copy is not null',
)
const FORGET_ORGANIZATION = [
  'delete from idempotency_keys where organization_id = $1',
  'delete from suppressions where organization_id = $1',
  'delete from daily_counts where organization_id = $1',
  'update sends set copy = null where organization_id = $1 and copy is not null',
].map((text) => sql<never, [organizationId: string]>(text))

/**
 * Drops what only the inbox could ask for. Messages that were accepted stay: they are delivered, and reported to the
 * pod and the organization (identity 10.1).
 */
export async function forgetInbox(on: Queryable, inboxUid: string): Promise<void> {
  await on.query(FORGET_INBOX_KEYS, inboxUid)
  await on.query(FORGET_INBOX_COPIES, inboxUid)
}

/** Drops what is kept for an organization beyond its messages on their way. */
export async function forgetOrganization(on: Queryable, organizationId: string): Promise<void> {
  for (const statement of FORGET_ORGANIZATION) await on.query(statement, organizationId)
}
