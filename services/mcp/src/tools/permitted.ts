import { type Caller, DENIED_WHILE_UNVERIFIED, holdsPermission } from '@restante/contracts/access'
import { type OperationId, operations, PROVISIONAL_OPERATIONS } from '@restante/contracts/operations'

const provisional: ReadonlySet<string> = new Set(PROVISIONAL_OPERATIONS)
const deniedWhileUnverified: ReadonlySet<string> = new Set(DENIED_WHILE_UNVERIFIED)

/** Whether a caller may call an operation at all, by the rules of the gateway, which decides when it is called. */
export function mayCall({ credential, unverified, calendar_access: calendars }: Caller, id: OperationId): boolean {
  const { permission, tiers, service } = operations[id]
  if (service === 'calendar' && calendars === false) return false
  if (credential.provisional && !provisional.has(id)) return false
  if (!tiers.some((tier) => tier === credential.tier)) return false
  if (permission === 'any') return true
  if (permission === 'organization_read' || permission === 'agent_verify') return false
  return holdsPermission(credential, permission) && !(unverified && deniedWhileUnverified.has(permission))
}
