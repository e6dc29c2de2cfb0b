import type { Timers } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import { dropDeliveries } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import { deleteWebhook, lockWebhooksOf } from '../webhooks/store.ts'
import { lockEarlier, rememberTakeOver } from './store.ts'

/** Identifies one take-over of one organization, as the gateway numbers it. */
export interface TakeOver {
  readonly organization_id: string
  readonly take_overs: number
}

/**
 * Ends the webhooks that keys from before a take-over created, with their pending deliveries. Webhooks record the
 * number of take-overs at their creation, so this is correct in any order and on any repetition: those of the successor
 * have this number or a higher one. A create that was admitted earlier and arrives later finds the recorded take-over.
 */
export async function endEarlierWebhooks(
  tx: Tx,
  timers: Timers<TimerKinds>,
  { organization_id: organizationId, take_overs: takeOvers }: TakeOver,
): Promise<void> {
  await lockWebhooksOf(tx, organizationId)
  await rememberTakeOver(tx, organizationId, takeOvers)
  const cancelTimers = (ids: readonly string[]): Promise<void> => timers.cancelIdle(tx, 'webhook-delivery', ids)
  for (const id of await lockEarlier(tx, organizationId, takeOvers)) {
    await dropDeliveries(tx, id, cancelTimers)
    await deleteWebhook(tx, id)
  }
}
