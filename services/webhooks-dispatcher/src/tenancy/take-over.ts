import type { Timers } from '@restante/jobs'
import type { Tx } from '@restante/service'
import { dropDeliveries } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import { deleteWebhook, lockEarlier, lockWebhooksOf, rememberTakeOver } from '../webhooks/store.ts'

/** Which take-over of which organization, as the gateway names it. */
export interface TakeOver {
  readonly organization_id: string
  readonly take_overs: number
}

/**
 * Ends the webhooks that keys from before a take-over made, and what is still to be delivered to them. Webhooks carry the
 * number of take-overs at their making, so this is right in any order and however often: those of the successor have
 * this number or a higher one. A create that was admitted earlier and comes later finds the mark.
 */
export async function endEarlierWebhooks(
  tx: Tx,
  timers: Timers<TimerKinds>,
  { organization_id: organizationId, take_overs: takeOvers }: TakeOver,
): Promise<void> {
  await lockWebhooksOf(tx, organizationId)
  await rememberTakeOver(tx, organizationId, takeOvers)
  const forgetTimers = (ids: readonly string[]): Promise<void> => timers.cancelIdle(tx, 'webhook-delivery', ids)
  for (const id of await lockEarlier(tx, organizationId, takeOvers)) {
    await dropDeliveries(tx, id, forgetTimers)
    await deleteWebhook(tx, id)
  }
}
