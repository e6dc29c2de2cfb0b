import { writtenSendLimits } from '@restante/contracts/access'
import type { Credential, Organization, Prisma } from '../generated/prisma/client.ts'
import { sendLimitsFromRow } from '../identity/send-limits.ts'
import type { Tx } from '../storage/database.ts'
import type { Actor } from './actor.ts'

/**
 * The changes that the audit log records: every change of permissions, and of the organizations themselves (identity
 * 3.1), domains that the operator bars from sending, and sign-ins to apps.
 */
export type AuditAction =
  | 'credential.created'
  | 'credential.changed'
  | 'credential.revoked'
  | 'credential.rotated'
  | 'credential.expired'
  | 'organization.created'
  | 'organization.changed'
  | 'organization.taken_over'
  | 'organization.deleting'
  | 'organization.deleted'
  | SignInAction
  | 'sign_up_limit.changed'
  | 'domain.barred'
  | 'domain.unbarred'

/** What apps-signin reports of sign-ins to apps and of accounts (apps 10). */
export type SignInAction =
  | 'sign_in.approved'
  | 'sign_in.refused'
  | 'sign_in.completed'
  | 'account.enabled'
  | 'account.disabled'

/** The event that caused the end of a key. */
export type AuditCause =
  | 'inbox deleted'
  | 'pod deleted'
  | 'organization deleted'
  | 'provisional key limit'
  | 'human replaced'
  | 'taken over'
  | 'wrong codes'

type Facts = Record<string, Prisma.InputJsonValue | null>

/** One change. Details are values before and after it; never a secret, nor its hash, nor a human's address. */
export interface AuditChange {
  readonly action: AuditAction
  readonly organizationId: string
  /** The credential that is changed, if one is. */
  readonly credential?: Credential | undefined
  /** Where something happened that changed no credential. */
  readonly place?: { readonly podId: string; readonly inboxUid: string } | undefined
  readonly details?: { readonly before?: Facts; readonly after?: Facts; readonly because?: AuditCause } | undefined
}

/**
 * Writes changes into the audit log, in the transaction that makes them. The log belongs to the operator: it outlives
 * the organization that it describes (identity 10.1).
 */
export async function recordAudit(tx: Tx, actor: Actor, at: Date, ...changes: readonly AuditChange[]): Promise<void> {
  if (changes.length === 0) return
  const orm = await tx.orm()
  await orm.auditEntry.createMany({
    data: changes.map(({ action, organizationId, credential, place, details }) => ({
      at,
      organizationId,
      actorKind: actor.kind,
      actorId: actor.id ?? null,
      requestId: actor.requestId ?? null,
      action,
      ...(credential === undefined ? place : bindingOf(credential)),
      details: { ...details },
    })),
  })
}

/** What a credential may do and for how long. */
export function credentialFacts(row: Credential): Facts {
  return {
    name: row.name,
    permissions: Array.isArray(row.permissions) ? row.permissions.map(String).sort() : 'unrestricted',
    app_connect: row.appConnect,
    provisional: row.provisional,
    expires_at: row.expiresAt?.toISOString() ?? null,
    ...publicKeyFacts(row),
  }
}

function publicKeyFacts({ fingerprint, clientId, signInStatus, signInFingerprint, createdBy }: Credential): Facts {
  if (fingerprint === null) return {}
  if (signInStatus === null) return { fingerprint, client_id: clientId }
  return { fingerprint: signInFingerprint, sign_in_status: signInStatus, created_by: createdBy }
}

/** The log records whether a human is attached; the address and the name are deleted with the organization. */
export function organizationFacts(row: Organization): Facts {
  return {
    status: row.status,
    authentication_type: row.authenticationType,
    human: row.humanEmail !== null,
    human_name: row.humanName !== null,
    human_replacements: row.humanReplacements,
    inbox_limit: row.inboxLimit,
    domain_limit: row.domainLimit,
    credential_limit: row.credentialLimit,
    calendar_access: row.calendarAccess,
    ...sendLimitFacts(row),
  }
}

/** By tier; null where the limits of the installation hold. */
function sendLimitFacts({ sendLimits }: Organization): Facts {
  const { organization = null, pod = null, inbox = null } = writtenSendLimits(sendLimitsFromRow(sendLimits))
  return { organization_send_limit: organization, pod_send_limit: pod, inbox_send_limit: inbox }
}

/** The values that differ, before and after. */
export function difference(before: Facts, after: Facts): { before: Facts; after: Facts } {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const only = (facts: Facts): Facts => Object.fromEntries(changed.map((name) => [name, facts[name] ?? null]))
  return { before: only(before), after: only(after) }
}

function bindingOf(row: Credential) {
  return {
    credentialId: row.id,
    credentialType: row.type,
    tier: row.tier,
    podId: row.podId,
    inboxUid: row.inboxUid,
    prefix: row.prefix,
    name: row.name,
  }
}
