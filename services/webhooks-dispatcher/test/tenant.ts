import { randomUUID } from 'node:crypto'
import type { Caller, CallerInbox } from '@restante/contracts'
import { sql } from '@restante/service'
import { callerOf } from '@restante/testkit'
import type { TestDispatcher } from './dispatcher.ts'

/** An organization that the gateway knows, with an inbox in its default pod, and callers of each tier. */
export interface Tenant {
  readonly id: string
  readonly key: string
  readonly inbox: CallerInbox
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
    const made = await dispatcher.gateway.request(key, 'POST', '/v0/inboxes', { username: `desk-${randomUUID()}` })
    const address = String(made['inbox_id'])
    return { uid: await uidOf(dispatcher, organization(), address), address, pod_id: id, paused: false }
  }
  const inbox = await addInbox()
  return {
    id,
    key,
    inbox,
    organization,
    addInbox,
    pod: (podId = id) => callerOf({ organization_id: id, pod_id: podId, credential: credentialOf('pod') }),
    inInbox: (tier = 'inbox') => callerOf({ organization_id: id, pod_id: id, inbox, credential: credentialOf(tier) }),
  }
}

function credentialOf(tier: Caller['credential']['tier'], permissions?: string[]): Caller['credential'] {
  return { ...callerOf().credential, tier, ...(permissions && { permissions }) }
}

const selectUids = sql<{ inbox_uids: string[] }, [id: string]>('select inbox_uids from webhooks where id = $1')

/** The identity behind an address, as its owner gives it for a filter. */
async function uidOf(dispatcher: TestDispatcher, caller: Caller, address: string): Promise<string> {
  const { webhook_id } = await dispatcher.webhook(caller, {
    url: 'https://receiver.example/',
    event_types: ['message.received'],
    inbox_ids: [address],
  })
  const [row] = await dispatcher.db.query(selectUids, webhook_id)
  await dispatcher.request('webhooks.delete', caller, 'DELETE', `/webhooks/${webhook_id}`)
  return row?.inbox_uids[0] ?? ''
}
