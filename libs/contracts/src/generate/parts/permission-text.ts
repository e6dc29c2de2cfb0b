import { INTERNAL_PERMISSIONS } from '../../access/permissions.ts'
import type { OperationDefinition } from '../../definition/operation.ts'

/** The permission that an operation demands, with those that its content can demand in addition. */
export function permissionText(operation: OperationDefinition): string {
  const { authentication, permission, signedPermission, alsoNeeds = [] } = operation
  if (authentication === 'none') return 'none'
  if (permission === 'any') return 'any credential'
  const mark = INTERNAL_PERMISSIONS.some((name) => name === permission) ? '\\*' : ''
  const also = alsoNeeds.length === 0 ? '' : `; by content also ${alsoNeeds.map((name) => `\`${name}\``).join(', ')}`
  const signed = signedPermission === undefined ? '' : `; signed by a public key \`${signedPermission}\``
  return `\`${permission}\`${mark}${signed}${also}`
}
