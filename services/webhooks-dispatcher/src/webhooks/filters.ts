import { LIMITS } from '@restante/contracts/vocabulary'
import { invalid, notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { Filters } from './store.ts'

/** Ids as a request names them. */
export interface NamedIds {
  readonly inboxIds: readonly string[]
  readonly podIds: readonly string[]
}

/** What the ids of a request stand for. */
export class Resolved<T> {
  readonly #resource: 'Inbox' | 'Pod'
  readonly #found: ReadonlyMap<string, T>

  constructor(resource: 'Inbox' | 'Pod', found: ReadonlyMap<string, T>) {
    this.#resource = resource
    this.#found = found
  }

  /** @throws ApiError 404 for an id that is unknown, or outside the scope. */
  required(ids: readonly string[]): T[] {
    return ids.map((id) => {
      const value = this.#found.get(id)
      if (value === undefined) throw notFound(this.#resource)
      return value
    })
  }

  /** Those of the ids that are known. */
  known(ids: readonly string[]): T[] {
    return ids.flatMap((id) => this.#found.get(id) ?? [])
  }
}

/**
 * Asks the owner what ids stand for: a projection must not answer "no".
 * @param podId narrows the scope to one pod.
 */
export async function resolveIds(
  gateway: ServiceClient<'webhooks-dispatcher'>,
  organizationId: string,
  podId: string | undefined,
  { inboxIds, podIds }: NamedIds,
): Promise<{ inboxes: Resolved<Filters['inboxes'][number]>; pods: Resolved<string> }> {
  const found = await gateway.call('gateway.lookupInboxes', {
    organization_id: organizationId,
    ...(podId !== undefined && { pod_id: podId }),
    inboxes: [...inboxIds],
    pods: [...podIds],
  })
  const inboxes = found.inboxes.map(({ given, inbox_uid: uid, address }) => [given, { uid, address }] as const)
  const pods = found.pods.map(({ given, pod_id }) => [given, pod_id] as const)
  return { inboxes: new Resolved('Inbox', new Map(inboxes)), pods: new Resolved('Pod', new Map(pods)) }
}

/** Whether filters narrow a webhook. One without any is about its whole organization, and stays so (events 7.4). */
export function isFiltered({ podIds, inboxes }: Filters): boolean {
  return podIds.length > 0 || inboxes.length > 0
}

/** A change of the filters of one webhook, resolved. What is added and removed at once is removed. */
export interface FilterChange {
  readonly added: Filters
  readonly removed: { readonly podIds: readonly string[]; readonly inboxUids: readonly string[] }
}

/**
 * The filters after a change (events 7.4): in their order, new ones last.
 * @throws ApiError 400 at the field when there would be too many ids, or none although there were some.
 */
export function changedFilters(filters: Filters, { added, removed }: FilterChange): Filters {
  const podIds = [...new Set([...filters.podIds, ...added.podIds])].filter((id) => !removed.podIds.includes(id))
  const byUid = new Map([...filters.inboxes, ...added.inboxes].map((inbox) => [inbox.uid, inbox]))
  const inboxes = [...byUid.values()].filter(({ uid }) => !removed.inboxUids.includes(uid))
  const most = LIMITS.event.filterIds
  if (podIds.length > most) throw invalid(['add_pod_ids'], `A webhook can name at most ${most} pods; remove one`)
  if (inboxes.length > most) throw invalid(['add_inbox_ids'], `A webhook can name at most ${most} inboxes; remove one`)
  if (isFiltered(filters) && podIds.length === 0 && inboxes.length === 0) {
    const field = removed.inboxUids.length > 0 ? 'remove_inbox_ids' : 'remove_pod_ids'
    throw invalid([field], 'A webhook that names inboxes or pods must keep one; add another, or delete the webhook')
  }
  return { podIds, inboxes }
}
