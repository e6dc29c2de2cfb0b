import type { DeletedInbox } from '@restante/contracts'
import type { Timers } from '@restante/jobs'
import { organizationScope, type ScopeFilter, type Tx } from '@restante/service'
import { disableWebhook, dropDeliveries } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import { deleteWebhook, lockScopeOf, lockWebhooksOf, rememberGone, removeFromFilters } from '../webhooks/store.ts'

type DeliveryTimers = Timers<TimerKinds>

/**
 * Removes what belongs to a deleted inbox, pod or organization: its webhooks, and its id in the filters of others. A
 * webhook that loses its last id is disabled instead of widening to everything (events 5). Correct in any order and on
 * any repetition: a later request finds the tombstone, an earlier one is undone.
 */
export async function purgeScope(tx: Tx, timers: DeliveryTimers, goneId: string, scope: ScopeFilter): Promise<void> {
  await lockWebhooksOf(tx, scope.organizationId)
  await rememberGone(tx, goneId)
  const forgetTimers = (ids: readonly string[]): Promise<void> => timers.cancelIdle(tx, 'webhook-delivery', ids)
  for (const id of await lockScopeOf(tx, scope)) {
    await dropDeliveries(tx, id, forgetTimers)
    await deleteWebhook(tx, id)
  }
  for (const id of await removeFromFilters(tx, scope.organizationId, goneId)) await disableWebhook(tx, id, forgetTimers)
}

/** An inbox is purged in the transaction that consumes its deletion. */
export function purgeInbox(
  tx: Tx,
  timers: DeliveryTimers,
  inbox: Pick<DeletedInbox, 'organization_id' | 'inbox_uid'>,
): Promise<void> {
  const { organization_id: organizationId, inbox_uid: inboxUid } = inbox
  return purgeScope(tx, timers, inboxUid, { ...organizationScope(organizationId), inboxUid })
}
