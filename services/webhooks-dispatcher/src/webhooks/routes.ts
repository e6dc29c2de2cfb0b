import { notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { disableWebhook, dropDeliveries, dropOfDisabled } from '../delivery/store.ts'
import { type LogRow, listLog } from '../log/store.ts'
import { type CreateOptions, createWebhook } from './create.ts'
import { deliveryRecord, testWebhook } from './deliveries.ts'
import { changeHeaders, headerNames } from './headers.ts'
import { readFor, requireCurrent } from './races.ts'
import { createdRecord, webhookRecord } from './record.ts'
import { deleteWebhook, findWebhook, listWebhooks, lockWebhook, type WebhookRow } from './store.ts'
import { type UpdateOptions, updateWebhookOf } from './update.ts'

export interface WebhookRouteOptions extends CreateOptions, UpdateOptions {
  readonly cursors: Cursors
}

/** The operations on webhooks and their logs; what sends a delivery again is elsewhere. */
export function webhookRoutes(
  deps: WebhookRouteOptions,
): Omit<Handlers<'webhooks-dispatcher'>, 'webhooks.retryDelivery'> {
  const { db, box, cursors } = deps
  return {
    'webhooks.create': async ({ caller, body }) => createdRecord(await createWebhook(deps, caller, body), box, caller),

    'webhooks.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'webhooks.list', within: scope, query })
      const rows = await readFor(db, caller, () => listWebhooks(db, scope, page))
      const position = (row: WebhookRow) => ({ time: row.created_at, id: row.id })
      const { items, members } = page.answer(rows, position, (row) => webhookRecord(row, box))
      return { ...members, webhooks: items }
    },

    'webhooks.get': async ({ caller, params }) => {
      const row = await readFor(db, caller, () => findWebhook(db, scopeFilter(caller), params.webhook_id))
      if (!row) throw notFound('Webhook')
      return webhookRecord(row, box)
    },

    'webhooks.update': async ({ caller, params, body }) =>
      webhookRecord(await updateWebhookOf(deps, caller, params.webhook_id, body), box),

    'webhooks.delete': async ({ caller, params }) => {
      const scope = scopeFilter(caller)
      // Disabled first: what is dropped is dropped in batches, and new deliveries for others do not wait for all of it.
      const id = await db.transaction(async (tx) => {
        const webhook = await lockWebhook(tx, scope, params.webhook_id)
        await requireCurrent(tx, caller)
        if (!webhook) throw notFound('Webhook')
        await disableWebhook(tx, webhook.id)
        return webhook.id
      })
      await dropOfDisabled(db, id)
      await db.transaction(async (tx) => {
        if (!(await lockWebhook(tx, scope, id))) return
        await dropDeliveries(tx, id)
        await deleteWebhook(tx, id)
      })
      return undefined
    },

    'webhooks.test': ({ caller, params }) => testWebhook(deps, caller, params.webhook_id),

    'webhooks.listDeliveries': async ({ caller, params, query }) => {
      const scope = scopeFilter(caller)
      const webhook = await readFor(db, caller, () => findWebhook(db, scope, params.webhook_id))
      if (!webhook) throw notFound('Webhook')
      const within = { ...scope, webhook: webhook.id }
      const page = new KeysetPage(cursors, { operation: 'webhooks.listDeliveries', within, query })
      const rows = await listLog(db, webhook.id, page)
      const position = (row: LogRow) => ({ time: row.created_at, id: row.id })
      const { items, members } = page.answer(rows, position, deliveryRecord)
      return { ...members, deliveries: items }
    },

    'webhooks.getHeaders': async ({ caller, params }) => ({
      header_names: await readFor(db, caller, () => headerNames(deps, caller, params.webhook_id)),
    }),

    'webhooks.updateHeaders': async ({ caller, params, body }) => {
      await changeHeaders(deps, caller, params.webhook_id, body)
      return undefined
    },
  }
}
