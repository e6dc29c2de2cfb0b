import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import type { WebhookDelivery } from '@restante/contracts/resources'
import { ApiError, notFound } from '@restante/service/errors'
import { scopeFilter } from '@restante/service/identity'
import { base62Id } from '../delivery/ids.ts'
import { addDeliveries } from '../delivery/store.ts'
import type { LogRow } from '../log/store.ts'
import { requireCurrent } from './races.ts'
import { lockWebhook } from './store.ts'
import type { UpdateOptions } from './update.ts'

/** The type of a test event. No webhook can name it, and every enabled one gets its own. */
const TEST_EVENT = 'webhook.test'

/** An entry of the log as the API shows it. */
export function deliveryRecord(row: LogRow): WebhookDelivery {
  return {
    delivery_id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.shown_event_id ?? row.event_id,
    event_type: row.event_type,
    state: row.state,
    attempts: row.attempts,
    ...(row.next_attempt_at !== null && { next_attempt_at: row.next_attempt_at.toISOString() }),
    created_at: row.created_at.toISOString(),
  }
}

/** Sends a webhook an event that says only that it is a test. */
export async function testWebhook(
  { db, timers }: Pick<UpdateOptions, 'db' | 'timers'>,
  caller: Caller,
  idOrAlias: string,
): Promise<ResponseOf<'webhooks.test'>> {
  const [id, eventId] = [base62Id('msg_'), randomUUID()]
  await db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, scopeFilter(caller), idOrAlias)
    await requireCurrent(tx, caller)
    if (!webhook) throw notFound('Webhook')
    if (!webhook.enabled) {
      throw new ApiError('conflict', {
        message: 'The webhook is disabled',
        fix: 'Enable it first, with enabled: true.',
      })
    }
    const event = {
      type: 'event',
      event_type: TEST_EVENT,
      event_id: eventId,
      webhook_id: webhook.id,
      created_at: new Date().toISOString(),
    }
    const delivery = { id, webhook_id: webhook.id, event_id: eventId, event_type: TEST_EVENT }
    await addDeliveries(tx, new Map([[eventId, { body: JSON.stringify(event), record: null }]]), [delivery])
    await timers.schedule(tx, { kind: 'webhook-delivery', key: id, payload: {} })
  })
  return { delivery_id: id, event_id: eventId }
}
