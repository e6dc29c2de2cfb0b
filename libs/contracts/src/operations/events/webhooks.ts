import { z } from 'zod'
import { BASE, define, group, idParam, VOID } from '../../definition/define.ts'
import { PAGE } from '../../resources/page.ts'
import { createdWebhook, webhook } from '../../resources/webhook.ts'
import { webhookDelivery } from '../../resources/webhook-delivery.ts'
import { eventTypeList, filterIds } from '../../schemas/event-filter.ts'
import { headerMap } from '../../schemas/header-map.ts'
import { orderedPageQuery } from '../../schemas/query.ts'
import { clientId, isHttpUrl, stringList } from '../../schemas/text.ts'
import { webhookDeliveryId } from '../../vocabulary/ids.ts'
import { LIMITS } from '../../vocabulary/limits.ts'
import { TIERS } from '../../vocabulary/tiers.ts'

/**
 * Names that would break the signature or the framing of a delivery (events 7.3), and those that only a client itself can set:
 * they would be accepted, and never sent.
 */
const RESERVED_HEADER =
  /^(svix-|webhook-|content-|(host|connection|transfer-encoding|user-agent|accept-encoding|te|trailer|expect|upgrade|keep-alive)$)/i

const headerRules = {
  name: /^[\w!#$%&'*+.^`|~-]+$/,
  nameLength: 256,
  // RFC 9110 5.5: a value travels as it is, without an encoding for other characters.
  value: /^[ -~\u0080-\u00ff]*$/,
  max: LIMITS.webhook.headers,
  bytes: LIMITS.webhook.headerBytes,
  refuse: (name: string) => (RESERVED_HEADER.test(name) ? 'This header is set by the service' : undefined),
}

const changeOfHeaders = z
  .object({
    headers: headerMap({ ...headerRules, min: 0 })
      .optional()
      .meta({ description: 'Set or replaced.' }),
    remove_headers: stringList(z.string().max(headerRules.nameLength), LIMITS.webhook.headers)
      .optional()
      .meta({ description: 'Names to remove; absent ones are ignored.' }),
  })
  .superRefine(({ headers = {}, remove_headers: removed = [] }, context) => {
    const set = Object.keys(headers)
    if (set.length === 0 && removed.length === 0) {
      context.addIssue({ code: 'custom', message: 'Give at least one header to set or name to remove' })
    }
    const names = new Set(removed.map((name) => name.toLowerCase()))
    for (const name of set) {
      if (!names.has(name.toLowerCase())) continue
      context.addIssue({
        code: 'custom',
        path: ['headers', name],
        message: 'Also in remove_headers; set it or remove it',
      })
    }
  })

const url = z
  .string()
  .max(LIMITS.webhook.url, { abort: true })
  .refine(isWebhookUrl, { error: 'Must be an absolute https URL without user info and fragment' })
  .meta({ description: 'https; the service refuses http unless the installation admits it.' })

/** The form of a webhook URL. Whether plain `http` is admitted is a switch of the installation, so its service decides. */
function isWebhookUrl(text: string): boolean {
  const parsed = URL.parse(text)
  return isHttpUrl(text) && parsed?.username === '' && parsed.password === '' && !text.includes('#')
}

const params = z.object({ webhook_id: idParam })
const deliveryParams = params.extend({ delivery_id: idParam })

/** What naming restricted event types needs beside the right to the operation (events 4). */
const GATES = ['label_spam_read', 'label_blocked_read', 'label_unauthenticated_read', 'calendar_event_read'] as const

const WEBHOOK = { service: 'webhooks-dispatcher', prefixes: TIERS, tiers: TIERS } as const

/**
 * Webhooks (events 7). Which filters a route accepts depends on its prefix: the service refuses those that it fixes.
 */
export const webhookOperations = group({
  'webhooks.create': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.create',
    method: 'POST',
    path: '/webhooks',
    permission: 'webhook_create',
    alsoNeeds: GATES,
    summary: 'Create a webhook; restricted event types need their permission',
    errors: ['not_found', 'forbidden', 'limit_exceeded', 'conflict'],
    body: z.object({
      url,
      event_types: eventTypeList.refine((types) => types.length > 0, { error: 'Must name at least one event type' }),
      client_id: clientId.optional(),
      inbox_ids: filterIds.optional(),
      pod_ids: filterIds.optional(),
      headers: headerMap({ ...headerRules, min: 1 }).optional(),
    }),
    response: createdWebhook,
  }),
  'webhooks.list': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.list',
    method: 'GET',
    path: '/webhooks',
    permission: 'webhook_read',
    summary: 'List webhooks of the scope and below it, newest first',
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, webhooks: z.array(webhook) }),
  }),
  'webhooks.get': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.get',
    method: 'GET',
    path: '/webhooks/{webhook_id}',
    permission: 'webhook_read',
    summary: 'Get a webhook by id or client_id',
    params,
    response: webhook,
  }),
  'webhooks.update': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.update',
    method: 'PATCH',
    path: '/webhooks/{webhook_id}',
    permission: 'webhook_update',
    alsoNeeds: GATES,
    summary: 'Change event types and filters of a webhook, disable it or enable it again',
    params,
    body: z.object({
      event_types: eventTypeList.optional().meta({ description: 'Replaces all types; an empty list changes nothing.' }),
      enabled: z.boolean().optional().meta({
        description: 'False drops pending retries; true enables again and forgets earlier failures.',
      }),
      add_inbox_ids: filterIds.optional(),
      remove_inbox_ids: filterIds.optional(),
      add_pod_ids: filterIds.optional(),
      remove_pod_ids: filterIds.optional(),
    }),
    response: webhook,
  }),
  'webhooks.delete': define({
    ...BASE,
    ...WEBHOOK,
    ...VOID,
    id: 'webhooks.delete',
    method: 'DELETE',
    path: '/webhooks/{webhook_id}',
    permission: 'webhook_delete',
    summary: 'Delete a webhook; pending retries are dropped',
    params,
  }),
  'webhooks.getHeaders': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.getHeaders',
    method: 'GET',
    path: '/webhooks/{webhook_id}/headers',
    permission: 'webhook_read',
    summary: 'List the names of custom headers; values are never shown',
    params,
    response: z.object({ header_names: z.array(z.string()) }).meta({ id: 'WebhookHeaderNames' }),
  }),
  'webhooks.updateHeaders': define({
    ...BASE,
    ...WEBHOOK,
    ...VOID,
    id: 'webhooks.updateHeaders',
    method: 'PATCH',
    path: '/webhooks/{webhook_id}/headers',
    permission: 'webhook_update',
    summary: 'Set, replace or remove custom headers',
    params,
    body: changeOfHeaders,
  }),
  'webhooks.test': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.test',
    method: 'POST',
    path: '/webhooks/{webhook_id}/test',
    permission: 'webhook_update',
    summary: 'Send a test event, signed and retried like any other',
    errors: ['conflict'],
    params,
    body: z.object({}),
    response: z
      .object({ delivery_id: webhookDeliveryId, event_id: z.guid() })
      .meta({ id: 'WebhookTest', description: 'The attempts are in the delivery log.' }),
  }),
  'webhooks.listDeliveries': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.listDeliveries',
    method: 'GET',
    path: '/webhooks/{webhook_id}/deliveries',
    permission: 'webhook_read',
    summary: 'List deliveries of the last 30 days that were attempted, newest event first',
    params,
    query: z.object(orderedPageQuery),
    response: z.object({ ...PAGE, deliveries: z.array(webhookDelivery) }),
  }),
  'webhooks.retryDelivery': define({
    ...BASE,
    ...WEBHOOK,
    id: 'webhooks.retryDelivery',
    method: 'POST',
    path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
    permission: 'webhook_update',
    summary: 'Send a delivery again, or now if it is retried anyway, under the same svix-id',
    errors: ['conflict'],
    params: deliveryParams,
    body: z.object({}),
    response: webhookDelivery,
  }),
})
