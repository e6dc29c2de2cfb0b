import type { Tx } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Handlers, InternalHandlers } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import type { Logger } from '@restante/service/telemetry'
import { deliveryRecord } from '../webhooks/deliveries.ts'
import { requireCurrent } from '../webhooks/races.ts'
import { findWebhook, lockWebhook } from '../webhooks/store.ts'
import { replayRange } from './replay.ts'
import { type RetryOptions, retryDelivery } from './retry.ts'
import { filterLog, findAnyWebhook, lockAnyWebhook } from './store.ts'

/** The operation with which the owner of a webhook asks for a delivery. */
export function retryRoutes(deps: RetryOptions): Pick<Handlers<'webhooks-dispatcher'>, 'webhooks.retryDelivery'> {
  return {
    'webhooks.retryDelivery': async ({ caller, params }) => {
      const scope = scopeFilter(caller)
      const webhook = {
        find: async () => {
          await requireCurrent(deps.db, caller)
          return findWebhook(deps.db, scope, params.webhook_id)
        },
        lock: async (tx: Tx, id: string) => {
          const locked = await lockWebhook(tx, scope, id)
          await requireCurrent(tx, caller)
          return locked
        },
      }
      return deliveryRecord(await retryDelivery(deps, webhook, params.delivery_id))
    },
  }
}

type OperatorOperation =
  | 'webhooks-dispatcher.listLog'
  | 'webhooks-dispatcher.replayDelivery'
  | 'webhooks-dispatcher.replayRange'

/** The operations of the operator's command line on the delivery log. */
export function logRoutes(
  deps: RetryOptions & { readonly log: Logger },
): Pick<InternalHandlers<'webhooks-dispatcher'>, OperatorOperation> {
  const { db, log } = deps
  return {
    'webhooks-dispatcher.listLog': async ({ body: { webhook_id, ...filter } }) => {
      if (!(await findAnyWebhook(db, webhook_id))) return {}
      return { deliveries: (await filterLog(db, webhook_id, filter)).map(deliveryRecord) }
    },

    'webhooks-dispatcher.replayDelivery': async ({ body: { webhook_id, delivery_id, operator } }) => {
      const webhook = {
        find: () => findAnyWebhook(db, webhook_id),
        lock: lockAnyWebhook,
      }
      try {
        const delivery = deliveryRecord(await retryDelivery(deps, webhook, delivery_id))
        log.info({ webhook_id, delivery_id, operator }, 'webhook delivery replayed by the operator')
        return { delivery }
      } catch (error) {
        if (error instanceof ApiError) return { refused: [error.message, error.options.fix ?? ''].join('. ').trim() }
        throw error
      }
    },

    'webhooks-dispatcher.replayRange': async ({ body }) => {
      const batch = await replayRange(deps, body)
      if (!batch) return { refused: 'The webhook is unknown or disabled.' }
      const { operator, ...range } = body
      log.info({ ...range, ...batch, operator }, 'webhook deliveries replayed by the operator')
      return { batch }
    },
  }
}
