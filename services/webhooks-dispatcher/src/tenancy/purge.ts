import type { Timers } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import { organizationScope, type ScopeFilter } from '@restante/service/identity'
import { type DeletedScope, type PurgeAtOnce, Tombstones } from '@restante/tenancy'
import { disableWebhook, dropDeliveries } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import { deleteWebhook, lockWebhooksOf } from '../webhooks/store.ts'
import { lockScopeOf, removeFromFilters } from './store.ts'

/** Webhooks of an organization are created and purged under one lock, so that a create finds the tombstone. */
export const tombstones = new Tombstones({ lock: (tx, { organization_id }) => lockWebhooksOf(tx, organization_id) })

/**
 * Removes what belongs to a deleted inbox, pod or organization, in the transaction that consumes its deletion: its
 * webhooks, and its id in the filters of others. A webhook that loses its last id is disabled instead of widening to
 * everything (events 5). Correct in any order: a later request finds the tombstone, an earlier one is undone.
 */
export class WebhookPurge implements PurgeAtOnce {
  readonly #timers: Timers<TimerKinds>

  constructor(timers: Timers<TimerKinds>) {
    this.#timers = timers
  }

  async atOnce(tx: Tx, scope: DeletedScope): Promise<void> {
    const cancelTimers = (ids: readonly string[]): Promise<void> => this.#timers.cancelIdle(tx, 'webhook-delivery', ids)
    for (const id of await lockScopeOf(tx, filterOf(scope))) {
      await dropDeliveries(tx, id, cancelTimers)
      await deleteWebhook(tx, id)
    }
    for (const id of await removeFromFilters(tx, scope.organization_id, scope.id)) {
      await disableWebhook(tx, id, cancelTimers)
    }
  }
}

function filterOf({ kind, id, organization_id }: DeletedScope): ScopeFilter {
  const organization = organizationScope(organization_id)
  switch (kind) {
    case 'organization':
      return organization
    case 'pod':
      return { ...organization, podId: id }
    case 'inbox':
      return { ...organization, inboxUid: id }
  }
}
