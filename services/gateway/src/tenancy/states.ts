import type { CredentialState, InboxState, OrganizationState, PodState } from '@restante/contracts/events'
import type { Credential, Inbox, Organization, Pod } from '../generated/prisma/client.ts'
import { rightsFromRow } from '../identity/rights.ts'

/** Full state of an entity for other services: the content of its event and of a snapshot. Never a secret. */
export function organizationState(row: Organization): OrganizationState {
  return {
    organization_id: row.id,
    version: row.version,
    status: row.status === 'suspended' ? 'suspended' : 'active',
    ...authenticationType(row),
    calendar_access: row.calendarAccess,
    ...times(row),
  }
}

export function podState(row: Pod): PodState {
  return {
    organization_id: row.organizationId,
    pod_id: row.id,
    version: row.version,
    name: row.name,
    ...(row.clientId === null ? {} : { client_id: row.clientId }),
    ...times(row),
  }
}

export function inboxState(row: Inbox): InboxState {
  return {
    organization_id: row.organizationId,
    pod_id: row.podId,
    inbox_uid: row.uid,
    version: row.version,
    address: row.address,
    ...(row.displayName === null ? {} : { display_name: row.displayName }),
    ...(row.clientId === null ? {} : { client_id: row.clientId }),
    status: row.status === 'paused' ? 'paused' : 'active',
    ...times(row),
  }
}

export function credentialState(row: Credential): CredentialState {
  const { permissions, appConnect } = rightsFromRow(row)
  return {
    organization_id: row.organizationId,
    credential_id: row.id,
    version: row.version,
    type: row.type === 'public_key' ? 'public_key' : 'bearer',
    tier: tierOf(row),
    ...signInStatus(row),
    ...(row.podId === null ? {} : { pod_id: row.podId }),
    ...(row.inboxUid === null ? {} : { inbox_uid: row.inboxUid }),
    name: row.name,
    ...(row.prefix === null ? {} : { prefix: row.prefix }),
    ...(permissions === undefined ? {} : { permissions: [...permissions] }),
    app_connect: appConnect,
    provisional: row.provisional,
    ...(row.expiresAt === null ? {} : { expires_at: row.expiresAt.toISOString() }),
    ...times(row),
  }
}

/** Absent unless it is a sign-in key. */
function signInStatus({ signInStatus: status }: Credential): Pick<CredentialState, 'sign_in_status'> {
  return status === 'pending' || status === 'active' ? { sign_in_status: status } : {}
}

/** The tier follows from the scope that the credential is bound to; a database check ensures that both agree. */
export function tierOf(row: {
  readonly podId: string | null
  readonly inboxUid: string | null
}): CredentialState['tier'] {
  if (row.inboxUid !== null) return 'inbox'
  return row.podId === null ? 'organization' : 'pod'
}

/** Absent for an organization that the operator created. */
export function authenticationType(row: {
  readonly authenticationType: string | null
}): Pick<OrganizationState, 'authentication_type'> {
  const type = row.authenticationType
  return type === 'agent_unverified' || type === 'agent_verified' ? { authentication_type: type } : {}
}

function times(row: { readonly createdAt: Date; readonly updatedAt: Date }) {
  return { created_at: row.createdAt.toISOString(), updated_at: row.updatedAt.toISOString() }
}
