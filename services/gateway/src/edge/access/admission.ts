import {
  DENIED_WHILE_UNVERIFIED,
  holdsPermission,
  type InternalPermission,
  type Permission,
} from '@restante/contracts/access'
import { type OperationDefinition, PROVISIONAL_OPERATIONS } from '@restante/contracts/operations'
import type { Tier } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { Identity } from '../../identity/identity.ts'
import { nothingToVerify } from '../../identity/refusals.ts'

const provisional: ReadonlySet<string> = new Set(PROVISIONAL_OPERATIONS)
const deniedWhileUnverified: ReadonlySet<string> = new Set(DENIED_WHILE_UNVERIFIED)

/**
 * Whether a credential may call an operation under a prefix at all, before anything is looked up (identity 1.11, steps
 * 4 and 5). Tier, path, permission, state of the organization and its access to calendars, in this order.
 * @throws ApiError 403
 */
export function admit(identity: Identity, operation: OperationDefinition, prefix: Tier): void {
  requirePermission(identity, operation, prefix)
  if (operation.service === 'calendar' && !identity.calendarAccess) throw withoutCalendars()
}

function requirePermission(identity: Identity, operation: OperationDefinition, prefix: Tier): void {
  if (identity.credential.provisional && !provisional.has(operation.id)) {
    throw deniedToWaiting(operation)
  }
  if (identity.tier === 'inbox' && (prefix === 'pod' || operation.path.startsWith('/pods'))) {
    throw new ApiError('forbidden', { fix: 'An inbox key reaches its inbox only; use a pod or organization key.' })
  }
  const permission = demandedOf(identity, operation)
  if (!operation.tiers.includes(identity.tier)) throw deniedByTier(operation)
  if (permission === 'any' || permission === 'organization_read') return
  if (permission === 'agent_verify') {
    if (identity.unverified || identity.credential.provisional) return
    throw nothingToVerify()
  }
  if (!holdsPermission(identity.credential, permission)) throw deniedByKey(permission)
  if (identity.unverified && deniedWhileUnverified.has(permission)) throw deniedByState(permission)
}

function demandedOf({ credential }: Identity, { permission, signedPermission }: OperationDefinition) {
  return credential.type === 'public_key' && signedPermission !== undefined ? signedPermission : permission
}

function denied(fix: string): ApiError {
  return new ApiError('missing_permission', { fix })
}

function deniedToWaiting({ permission }: OperationDefinition): ApiError {
  return denied(`${nameOf(permission)} is denied to this key until its code is entered, with POST /v0/agent/verify.`)
}

function deniedByTier({ permission, tiers }: OperationDefinition): ApiError {
  return denied(`${nameOf(permission)} needs a credential of a wider tier: ${tiers.join(' or ')}.`)
}

function deniedByKey(permission: Permission): ApiError {
  return denied(
    `The credential lacks '${permission}'. Use a key that holds it; a key cannot mint one stronger than itself.`,
  )
}

function deniedByState(permission: Permission): ApiError {
  return denied(`'${permission}' is denied until the organization is verified, with POST /v0/agent/verify.`)
}

function withoutCalendars(): ApiError {
  return new ApiError('forbidden', {
    message: 'Calendar access is not enabled for this organization',
    fix: 'Ask the operator of this installation to switch calendars on for the organization.',
  })
}

function nameOf(permission: Permission | InternalPermission | 'any'): string {
  return permission === 'any' ? 'This operation' : `'${permission}'`
}
