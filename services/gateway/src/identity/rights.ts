import { holdsPermission, isPermission, type Permission } from '@restante/contracts/access'

/** What a credential may do, apart from tier, scope and the state of its organization (identity 3.4). */
export interface Rights {
  /** `undefined`: unrestricted. Never holds `app_connect`, whose bit is kept apart. */
  readonly permissions: ReadonlySet<Permission> | undefined
  readonly appConnect: boolean
}

export function isUnrestricted(rights: Rights): boolean {
  return rights.permissions === undefined
}

/** Whether a credential holds a permission, by the rule that every service applies. */
export function holds({ permissions, appConnect }: Rights, permission: Permission): boolean {
  return holdsPermission({ permissions, app_connect: appConnect }, permission)
}

/** Rights as stored in the database: a JSON list of names, null for an unrestricted key. */
export function rightsFromRow(row: { readonly permissions: unknown; readonly appConnect: boolean }): Rights {
  if (!Array.isArray(row.permissions)) return { permissions: undefined, appConnect: row.appConnect }
  return { permissions: new Set(row.permissions.filter(isPermissionName)), appConnect: row.appConnect }
}

export function sameRights(one: Rights, other: Rights): boolean {
  if (one.appConnect !== other.appConnect) return false
  const { permissions } = other
  if (one.permissions === undefined || permissions === undefined) return one.permissions === permissions
  return one.permissions.size === permissions.size && [...one.permissions].every((name) => permissions.has(name))
}

function isPermissionName(value: unknown): value is Permission {
  return typeof value === 'string' && isPermission(value)
}
