import { type Queryable, sql } from '@restante/service/database'

/** Parses a path segment: an inbox id always holds `@`; a segment without it is a client_id (identity 1.1). */
export function parseReference(reference: string): { address: string | null; clientId: string | null } {
  return reference.includes('@')
    ? { address: reference.toLowerCase(), clientId: null }
    : { address: null, clientId: reference }
}

/**
 * An inbox, with the columns of its organization from which the sending right follows. Both are read for each request
 * that names the inbox: neither may be a second old.
 */
export interface ReferencedInbox {
  readonly organization_id: string
  readonly take_overs: number
  readonly uid: string
  readonly address: string
  readonly pod_id: string
  readonly display_name: string | null
  readonly status: string
  readonly created_at: Date
  readonly organization_status: string
  readonly authentication_type: string | null
  readonly human_email: string | null
  readonly send_limits: unknown
  readonly verified_at: Date | null
}

const SELECT = `
select i.uid, i.address, i.pod_id, i.display_name, i.status, i.created_at,
       o.status as organization_status, o.authentication_type, o.human_email, o.send_limits, o.verified_at,
       i.organization_id, o.take_overs
  from inboxes i join organizations o on o.id = i.organization_id
 where i.deleted_at is null`
const COLUMNS = `${SELECT} and i.organization_id = $1`

const BY_ADDRESS = sql<ReferencedInbox, [organizationId: string, address: string]>(`${COLUMNS} and i.address = $2`)
const BY_CLIENT_ID = sql<ReferencedInbox, [organizationId: string, clientId: string]>(`${COLUMNS} and i.client_id = $2`)
const BY_UID = sql<ReferencedInbox, [organizationId: string, uid: string]>(`${COLUMNS} and i.uid = $2`)
const OF_ANY_ORGANIZATION = sql<ReferencedInbox, [uid: string]>(`${SELECT} and i.uid = $1`)

/** The live inbox of an organization that a path segment names. */
export async function findByReference(
  db: Queryable,
  organizationId: string,
  reference: string,
): Promise<ReferencedInbox | undefined> {
  const { address, clientId } = parseReference(reference)
  const [row] =
    address === null
      ? await db.query(BY_CLIENT_ID, organizationId, clientId ?? '')
      : await db.query(BY_ADDRESS, organizationId, address)
  return row
}

/** The live inbox of an organization with this uid. */
export async function findByUid(
  db: Queryable,
  organizationId: string,
  uid: string,
): Promise<ReferencedInbox | undefined> {
  const [row] = await db.query(BY_UID, organizationId, uid)
  return row
}

/** The live inbox with this uid, for a service that acts for it without a request. */
export async function findOfAnyOrganization(db: Queryable, uid: string): Promise<ReferencedInbox | undefined> {
  const [row] = await db.query(OF_ANY_ORGANIZATION, uid)
  return row
}
