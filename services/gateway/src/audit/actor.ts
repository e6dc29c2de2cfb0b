import type { Caller } from '@restante/contracts'

/** Who makes a change: what the audit log says of it. */
export interface Actor {
  /** A key of the organization, the operator's command line, an agent that signs up, or the service by itself. */
  readonly kind: 'credential' | 'operator' | 'sign_up' | 'system'
  /** The key's id, the operator's name on the machine, what of the service it was. */
  readonly id?: string | undefined
  /** The request that asked for it, as the logs and the answer name it. */
  readonly requestId?: string | undefined
}

/** The key that asks, in the request it asks with. */
export function credentialActor(request: { readonly caller: Caller; readonly requestId: string }): Actor {
  return { kind: 'credential', id: request.caller.credential.id, requestId: request.requestId }
}
