import type { AuditEntry, Credential, Organization } from '../../generated/prisma/client.ts'
import { rightsFromRow } from '../../identity/rights.ts'
import type { ListedKey } from '../operator/keys.ts'
import type { OrganizationStatus } from '../operator/organizations.ts'

/** Output for scripts: one document a line, with the names that the API uses. Unset members are omitted. */
export function json(document: Record<string, unknown>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null)))
}

export function statusOf(row: Organization): OrganizationStatus {
  if (row.deletingAt !== null) return 'deleting'
  return row.status === 'suspended' ? 'suspended' : 'active'
}

export function organizationDocument(row: Organization) {
  return {
    organization_id: row.id,
    status: statusOf(row),
    authentication_type: row.authenticationType,
    human_email: row.humanEmail,
    human_name: row.humanName,
    source: row.signUpSource,
    referrer: row.signUpReferrer,
    inbox_count: row.inboxCount,
    inbox_limit: row.inboxLimit,
    domain_limit: row.domainLimit,
    api_key_limit: row.credentialLimit,
    calendar_access: row.calendarAccess,
    deleting_at: row.deletingAt,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

export function keyDocument(row: Credential | ListedKey) {
  const { permissions, appConnect } = rightsFromRow(row)
  return {
    api_key_id: row.id,
    organization_id: row.organizationId,
    type: row.type,
    tier: row.tier,
    pod_id: row.podId,
    inbox_id: 'inbox' in row ? row.inbox?.address : undefined,
    prefix: row.prefix,
    client_id: row.clientId,
    sign_in_status: row.signInStatus,
    fingerprint: row.signInStatus === null ? row.fingerprint : row.signInFingerprint,
    name: row.name,
    permissions: permissions && [...permissions, ...(appConnect ? ['app_connect'] : [])].sort(),
    app_connect: appConnect,
    provisional: row.provisional,
    used_at: row.usedAt,
    expires_at: row.expiresAt,
    created_at: row.createdAt,
  }
}

export function auditDocument(row: AuditEntry) {
  return {
    at: row.at,
    organization_id: row.organizationId,
    actor: { kind: row.actorKind, id: row.actorId },
    request_id: row.requestId,
    action: row.action,
    api_key_id: row.credentialId,
    type: row.credentialType,
    tier: row.tier,
    pod_id: row.podId,
    inbox_uid: row.inboxUid,
    prefix: row.prefix,
    name: row.name,
    details: row.details,
  }
}
