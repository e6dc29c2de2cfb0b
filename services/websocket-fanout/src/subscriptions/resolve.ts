import type { Caller } from '@restante/contracts/access'
import type { ServiceClient } from '@restante/service/http'
import type { Scope } from './subscriptions.ts'

/** The scopes that the ids of a frame name. */
export interface Resolved {
  readonly scopes: readonly Scope[]
  /** The first kind of resource of which an id was not found. */
  readonly missing: 'Inbox' | 'Pod' | undefined
}

/** Asks the owner which of the named inboxes and pods the caller can see: a projection must not answer "no". */
export function scopeResolver(gateway: ServiceClient<'websocket-fanout'>) {
  return async (caller: Caller, ids: { inboxIds: readonly string[]; podIds: readonly string[] }): Promise<Resolved> => {
    const found = await gateway.call('gateway.lookupInboxes', {
      organization_id: caller.organization_id,
      ...(caller.pod_id !== undefined && { pod_id: caller.pod_id }),
      ...(caller.inbox && { inbox_uid: caller.inbox.uid }),
      inboxes: [...ids.inboxIds],
      pods: [...ids.podIds],
    })
    const inboxes = new Set(found.inboxes.map(({ given }) => given))
    const pods = new Set(found.pods.map(({ given }) => given))
    return {
      scopes: [
        ...found.inboxes.map(({ inbox_uid: inboxUid }): Scope => ({ kind: 'inbox', inboxUid })),
        ...found.pods.map(({ pod_id: podId }): Scope => ({ kind: 'pod', podId })),
      ],
      missing: missingOf(ids, inboxes, pods),
    }
  }
}

function missingOf(
  ids: { inboxIds: readonly string[]; podIds: readonly string[] },
  inboxes: ReadonlySet<string>,
  pods: ReadonlySet<string>,
): Resolved['missing'] {
  if (ids.inboxIds.some((id) => !inboxes.has(id))) return 'Inbox'
  return ids.podIds.some((id) => !pods.has(id)) ? 'Pod' : undefined
}
