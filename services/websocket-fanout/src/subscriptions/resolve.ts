import type { Caller } from '@restante/contracts'
import { notFound, type ServiceClient } from '@restante/service'
import type { Scope } from './subscriptions.ts'

/** Asks the owner which of the named inboxes and pods the caller can see: a projection may not say no. */
export function scopeResolver(gateway: ServiceClient<'websocket-fanout'>) {
  return async (caller: Caller, ids: { inboxIds: readonly string[]; podIds: readonly string[] }): Promise<Scope[]> => {
    const found = await gateway.call('gateway.lookupInboxes', {
      organization_id: caller.organization_id,
      ...(caller.pod_id !== undefined && { pod_id: caller.pod_id }),
      ...(caller.inbox && { inbox_uid: caller.inbox.uid }),
      inboxes: [...ids.inboxIds],
      pods: [...ids.podIds],
    })
    const inboxes = new Map(found.inboxes.map((inbox) => [inbox.given, inbox.inbox_uid]))
    const pods = new Map(found.pods.map((pod) => [pod.given, pod.pod_id]))
    return [
      ...ids.inboxIds.map((id): Scope => ({ kind: 'inbox', inboxUid: known(inboxes, id, 'Inbox') })),
      ...ids.podIds.map((id): Scope => ({ kind: 'pod', podId: known(pods, id, 'Pod') })),
    ]
  }
}

function known(found: ReadonlyMap<string, string>, id: string, resource: string): string {
  const value = found.get(id)
  if (value === undefined) throw notFound(resource)
  return value
}
