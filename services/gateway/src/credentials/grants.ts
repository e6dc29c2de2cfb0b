import { isPermission, PERMISSIONS, type Permission, type PermissionGrant } from '@restante/contracts/access'
import { holds, isUnrestricted, type Rights } from '../identity/rights.ts'

export type Grant =
  | { readonly outcome: 'granted'; readonly rights: Rights }
  | { readonly outcome: 'escalation'; readonly missing: readonly Permission[] }
  /**
   * Only an unrestricted credential may make a key unrestricted (`open`), or change the rights of such a key
   * (`narrow`).
   */
  | { readonly outcome: 'unrestricted_required'; readonly to: 'open' | 'narrow' }
  /** Permissions that cannot be given to a public key. */
  | { readonly outcome: 'bearer_only'; readonly asked: readonly Permission[] }
  /** Permissions that cannot be given to a sign-in key. */
  | { readonly outcome: 'not_for_sign_in' }
  /** A public key always lists its permissions. */
  | { readonly outcome: 'explicit_required' }

/** Permissions that a public key never has; the rights of the caller who registers it do not matter (identity 3.3). */
const BEARER_ONLY: readonly Permission[] = ['account_update']

/** Rights of a new bearer key (identity 3.4 rules 2 to 7). */
export function grantForNew(creator: Rights, requested: PermissionGrant | null | undefined): Grant {
  if (requested === undefined) return granted(creator.permissions, false)
  if (requested === null) {
    return isUnrestricted(creator) ? granted(undefined, false) : { outcome: 'unrestricted_required', to: 'open' }
  }
  const wanted = namesSetTo(requested, true)
  const missing = wanted.filter((permission) => !holds(creator, permission))
  return missing.length > 0 ? { outcome: 'escalation', missing } : exactly(wanted)
}

/**
 * Rights of a new public key: always a list. An omitted object is the creator's own rights as they are now, `app_connect`
 * included where it is held (identity 3.4 rule 7).
 */
export function grantForNewPublicKey(creator: Rights, requested: PermissionGrant | undefined): Grant {
  if (requested !== undefined) return forPublicKey(requested, () => grantForNew(creator, requested))
  return exactly(PERMISSIONS.filter((name) => holds(creator, name) && !BEARER_ONLY.includes(name)))
}

/** Rights of a public key after an update: as those of a bearer key, but always a list (identity 3.5). */
export function grantForPublicKeyUpdate(
  editor: Rights,
  target: Rights,
  requested: PermissionGrant | null | undefined,
): Grant {
  if (requested === null) return { outcome: 'explicit_required' }
  return forPublicKey(requested ?? {}, () => grantForUpdate(editor, target, requested))
}

/** The only permissions of a sign-in key (apps 4). */
const OF_SIGN_IN: readonly Permission[] = ['app_connect', 'app_share_owner']

/** Rights of a new sign-in key: what its creator holds of them, `app_connect` included (apps 4). */
export function grantForSignInKey(creator: Rights): Rights {
  const permissions = new Set(OF_SIGN_IN.filter((name) => name !== 'app_connect' && holds(creator, name)))
  return { permissions, appConnect: creator.appConnect }
}

/** Rights of a sign-in key after an update: as those of a public key, of its own two permissions only (identity 3.5). */
export function grantForSignInKeyUpdate(
  editor: Rights,
  target: Rights,
  requested: PermissionGrant | null | undefined,
): Grant {
  if (requested === null) return { outcome: 'explicit_required' }
  const isForeign = namesSetTo(requested ?? {}, true).some((name) => !OF_SIGN_IN.includes(name))
  return isForeign ? { outcome: 'not_for_sign_in' } : grantForUpdate(editor, target, requested)
}

function forPublicKey(requested: PermissionGrant, grant: () => Grant): Grant {
  const asked = namesSetTo(requested, true).filter((name) => BEARER_ONLY.includes(name))
  return asked.length > 0 ? { outcome: 'bearer_only', asked } : grant()
}

/** Rights of a bearer key after an update (identity 3.5). Whatever the target gains, the editor must hold. */
export function grantForUpdate(editor: Rights, target: Rights, requested: PermissionGrant | null | undefined): Grant {
  if (requested === undefined) return { outcome: 'granted', rights: target }
  const to = requested === null ? 'open' : 'narrow'
  if ((to === 'open' || isUnrestricted(target)) && !isUnrestricted(editor)) {
    return { outcome: 'unrestricted_required', to }
  }
  if (requested === null) return granted(undefined, target.appConnect)

  const wanted = namesSetTo(requested, true)
  const missing = wanted.filter((permission) => !holds(target, permission) && !holds(editor, permission))
  if (missing.length > 0) return { outcome: 'escalation', missing }
  if (target.permissions === undefined) return exactly(wanted)

  const taken = new Set(namesSetTo(requested, false))
  const kept = [...target.permissions, ...(target.appConnect ? APP_CONNECT : [])].filter((name) => !taken.has(name))
  return exactly([...kept, ...wanted])
}

/** The wire form: absent when unrestricted, otherwise the members that are true and no others (identity 3.2). */
export function permissionsOnWire(rights: Rights): Partial<Record<Permission, true>> | undefined {
  if (rights.permissions === undefined) return undefined
  const shown: Partial<Record<Permission, true>> = {}
  for (const permission of rights.permissions) shown[permission] = true
  if (rights.appConnect) shown.app_connect = true
  return shown
}

const APP_CONNECT: readonly Permission[] = ['app_connect']

function granted(permissions: ReadonlySet<Permission> | undefined, appConnect: boolean): Grant {
  return { outcome: 'granted', rights: { permissions, appConnect } }
}

function exactly(names: readonly Permission[]): Grant {
  const permissions = new Set(names)
  const appConnect = permissions.delete('app_connect')
  return granted(permissions, appConnect)
}

function namesSetTo(grant: PermissionGrant, value: boolean): Permission[] {
  return Object.keys(grant)
    .filter(isPermission)
    .filter((name) => grant[name] === value)
}
