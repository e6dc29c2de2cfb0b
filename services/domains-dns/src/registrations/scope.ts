import type { Caller } from '@restante/contracts/access'
import type { DomainRow } from './store.ts'

/** The domains that a request may see (domains 1). */
export interface DomainScope {
  readonly organizationId: string
  /** Undefined: those of the whole organization. */
  readonly podId: string | undefined
  /** Whether those that every pod may use are among them. */
  readonly includesShared: boolean
}

/** Below a pod's path only its own domains exist; a key of a pod also sees those that every pod may use. */
export function scopeOf(caller: Caller): DomainScope {
  const { organization_id: organizationId, pod_id: podId, pod_in_path: inPath } = caller
  return { organizationId, podId, includesShared: podId === undefined || inPath !== true }
}

/** Whether a registration of the organization lies in a scope. */
export function isInScope({ podId, includesShared }: DomainScope, row: DomainRow): boolean {
  if (row.pod_id === null) return includesShared
  return podId === undefined || row.pod_id === podId
}

/** Whether a request may change a registration that it sees. */
export function mayChange({ podId }: DomainScope, row: DomainRow): boolean {
  return podId === undefined || row.pod_id === podId
}

/** The condition that a row lies in a scope, with the values `ScopeValues`. */
export const IN_SCOPE = `organization_id = $1 and ($2::uuid is null or pod_id = $2 or ($3::boolean and pod_id is null))`
export type ScopeValues = [organizationId: string, podId: string | null, includesShared: boolean]

export function scopeValues({ organizationId, podId, includesShared }: DomainScope): ScopeValues {
  return [organizationId, podId ?? null, includesShared]
}
