import type { Caller, CallerInbox } from '@restante/contracts/access'
import { callerOf } from '@restante/testkit'
import type { TestDispatcher } from './dispatcher.ts'

/** An organization in the gateway, with an inbox in its default pod, and callers of each tier. */
export interface Tenant {
  readonly id: string
  readonly key: string
  readonly inbox: CallerInbox
  /** The caller of `key`, which the gateway confirms: for requests that may take long. */
  readonly owner: Caller
  /** A key of the organization that was not used before. */
  organization(permissions?: string[]): Caller
  /** A key of the default pod, or of another one. */
  pod(podId?: string): Caller
  /** The inbox by its own key, or by the organization's key on the inbox's path. */
  inInbox(tier?: 'organization' | 'inbox'): Caller
  /** A further inbox of the default pod. */
  addInbox(): Promise<CallerInbox>
}

export async function makeTenant(dispatcher: TestDispatcher): Promise<Tenant> {
  const { id, key } = await dispatcher.gateway.organization()
  const organization = (permissions?: string[]) =>
    callerOf({ organization_id: id, credential: credentialOf('organization', permissions) })
  const addInbox = async () => {
    const { inboxUid, address, podId } = await dispatcher.gateway.addInbox({ id, key })
    return { uid: inboxUid, address, pod_id: podId, paused: false }
  }
  const inbox = await addInbox()
  const me = await dispatcher.gateway.request(key, 'GET', '/v0/auth/me')
  const credential = { ...credentialOf('organization'), id: String(me['api_key_id']) }
  return {
    id,
    key,
    inbox,
    owner: callerOf({ organization_id: id, credential }),
    organization,
    addInbox,
    pod: (podId = id) => callerOf({ organization_id: id, pod_id: podId, credential: credentialOf('pod') }),
    inInbox: (tier = 'inbox') => callerOf({ organization_id: id, pod_id: id, inbox, credential: credentialOf(tier) }),
  }
}

function credentialOf(tier: Caller['credential']['tier'], permissions?: string[]): Caller['credential'] {
  return { ...callerOf().credential, tier, ...(permissions && { permissions }) }
}
