import type { Caller } from '@restante/contracts/access'

/** The author of a change, as recorded in the audit log. */
export interface Actor {
  /** A key of the organization, the operator's command line, an agent that signs up, or the service itself. */
  readonly kind: 'credential' | 'operator' | 'sign_up' | 'system'
  /** The key's id, the operator's user name, or the job of the service. */
  readonly id?: string | undefined
  /** The request that caused it, as named in logs and the response. */
  readonly requestId?: string | undefined
}

/** The calling key, in its request. */
export function credentialActor(request: { readonly caller: Caller; readonly requestId: string }): Actor {
  return { kind: 'credential', id: request.caller.credential.id, requestId: request.requestId }
}
