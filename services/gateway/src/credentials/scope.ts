import type { Caller } from '@restante/contracts'
import type { CredentialScope } from './store.ts'

/** The scope that the path and the caller's own tier leave: where a key is made, and which keys are seen (identity 3.1). */
export function scopeOf(caller: Caller): CredentialScope {
  return { organizationId: caller.organization_id, podId: caller.pod_id, inboxUid: caller.inbox?.uid }
}
