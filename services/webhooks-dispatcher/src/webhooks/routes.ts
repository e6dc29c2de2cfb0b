import { type Caller, pageSize } from '@restante/contracts'
import { type Cursors, type Handlers, notFound, pageOf } from '@restante/service'
import { dropDeliveries } from '../delivery/store.ts'
import { type CreateDeps, createWebhook } from './create.ts'
import { createdRecord, webhookRecord } from './record.ts'
import { deleteWebhook, findWebhook, listWebhooks, lockWebhook, type ScopeFilter } from './store.ts'

export interface WebhookRouteDeps extends CreateDeps {
  readonly cursors: Cursors
}

function scopeOf(caller: Caller): ScopeFilter {
  return { organizationId: caller.organization_id, podId: caller.pod_id, inboxUid: caller.inbox?.uid }
}

export function webhookRoutes(deps: WebhookRouteDeps): Handlers<'webhooks-dispatcher'> {
  const { db, box, cursors } = deps
  return {
    'webhooks.create': async ({ caller, body }) => createdRecord(await createWebhook(deps, caller, body), box, caller),

    'webhooks.list': async ({ caller, query }) => {
      const scope = scopeOf(caller)
      const ascending = query.ascending ?? false
      const limit = pageSize(query.limit)
      const context = ['webhooks.list', scope, ascending]
      const [createdAt, id] = query.page_token === undefined ? [] : cursors.open(context, query.page_token)
      const after =
        createdAt === undefined || id === undefined ? undefined : { createdAt: String(createdAt), id: String(id) }
      const rows = await listWebhooks(db, scope, { ascending, after, limit: limit + 1 })
      const page = pageOf(
        rows,
        limit,
        (position) => cursors.seal(context, position),
        (row) => [row.created_at.toISOString(), row.id],
      )
      return {
        count: page.items.length,
        webhooks: page.items.map((row) => webhookRecord(row, box)),
        ...(query.limit !== undefined && { limit }),
        ...(page.next_page_token !== undefined && { next_page_token: page.next_page_token }),
      }
    },

    'webhooks.get': async ({ caller, params }) => {
      const row = await findWebhook(db, scopeOf(caller), params.webhook_id)
      if (!row) throw notFound('Webhook')
      return webhookRecord(row, box)
    },

    'webhooks.delete': async ({ caller, params }) => {
      await db.transaction(async (tx) => {
        const id = await lockWebhook(tx, scopeOf(caller), params.webhook_id)
        if (id === undefined) throw notFound('Webhook')
        await dropDeliveries(tx, id)
        await deleteWebhook(tx, id)
      })
      return undefined
    },
  }
}
