import { PERMISSIONS, type Permission } from '@restante/contracts/access'
import { holds, isUnrestricted, type Rights } from '../../src/identity/rights.ts'

/** What a key may do, without a word about how it came to it. */
export function rightsOf(permissions: readonly Permission[] | undefined, appConnect: boolean): Rights {
  return { permissions: permissions && new Set(permissions), appConnect }
}

/** Whether nothing can be done with the inner rights that cannot be done with the outer ones. */
export function atMost(inner: Rights, outer: Rights): boolean {
  if (isUnrestricted(inner) && !isUnrestricted(outer)) return false
  return PERMISSIONS.every((permission) => !holds(inner, permission) || holds(outer, permission))
}

/** What is held after a change and was not before; `unrestricted` stands for being that. */
export function gained(after: Rights, before: Rights): (Permission | 'unrestricted')[] {
  const names = PERMISSIONS.filter((permission) => holds(after, permission) && !holds(before, permission))
  return isUnrestricted(after) && !isUnrestricted(before) ? [...names, 'unrestricted'] : names
}

/** Whether somebody with these rights may give all of that away. */
export function mayGive(rights: Rights, gifts: readonly (Permission | 'unrestricted')[]): boolean {
  return gifts.every((gift) => (gift === 'unrestricted' ? isUnrestricted(rights) : holds(rights, gift)))
}
