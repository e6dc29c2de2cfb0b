import { type Caller, isEventType, RECEIVED_EVENT_TYPES, visibleLabels } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import type { Timers } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import { invalid, notFound } from '@restante/service/errors'
import { requireEventTypes, scopeFilter } from '@restante/service/identity'
import { disableWebhook, dropOfDisabled, dropSomeOfDisabled, stopFailureClocks } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import type { CreateOptions } from './create.ts'
import { changedFilters, type FilterChange, isFiltered, resolveIds } from './filters.ts'
import { requireCurrent, requireLiving } from './races.ts'
import { type Filters, findWebhook, lockWebhook, lockWebhooksOf, updateWebhook, type WebhookRow } from './store.ts'

type Body = RequestOf<'webhooks.update'>['body']

export interface UpdateOptions extends Pick<CreateOptions, 'db' | 'mutex' | 'gateway'> {
  readonly timers: Timers<TimerKinds>
}

/** Changes types, filters and state of a webhook (events 7.4). Members that its scope fixes are ignored. */
export async function updateWebhookOf(
  deps: UpdateOptions,
  caller: Caller,
  idOrAlias: string,
  body: Body,
): Promise<WebhookRow> {
  const { db, mutex } = deps
  const scope = scopeFilter(caller)
  const found = await findWebhook(db, scope, idOrAlias)
  if (!found) throw notFound('Webhook')
  requireRights(caller, found, body)
  const change = await resolveChange(deps, found, body)
  // In batches: nothing from before may be sent when it is enabled again.
  if (body.enabled === true) await dropOfDisabled(db, found.id)
  const updated = await mutex.run(caller.organization_id, () =>
    db.transaction(async (tx) => {
      await lockWebhooksOf(tx, caller.organization_id)
      await requireCurrent(tx, caller)
      const webhook = await lockWebhook(tx, scope, found.id)
      if (!webhook) throw notFound('Webhook')
      // Another request may have changed the types since.
      requireRights(caller, webhook, body)
      if (change) await requireLiving(tx, caller.organization_id, change.added)
      return apply(deps, tx, caller, webhook, { body, change })
    }),
  )
  if (body.enabled === false) await dropOfDisabled(db, found.id)
  return updated
}

/**
 * Naming restricted types needs their permissions, and so does enabling a webhook that has some; without a filter of
 * types it needs those of all restricted mail (events 4).
 */
function requireRights(caller: Caller, { enabled, event_types: stored }: WebhookRow, body: Body): void {
  const named = body.event_types ?? []
  const types = named.length > 0 ? named : stored.filter(isEventType)
  if (named.length > 0 || (body.enabled === true && !enabled)) {
    requireEventTypes(caller.credential, types.length > 0 ? types : RECEIVED_EVENT_TYPES, 'webhook')
  }
}

/**
 * A webhook of an inbox is about that inbox alone, one of a pod about inboxes of that pod; one that is about its whole
 * scope stays so, and nothing is stored.
 * @returns undefined when nothing is added or removed.
 */
async function resolveChange(
  { gateway }: UpdateOptions,
  found: WebhookRow,
  body: Body,
): Promise<FilterChange | undefined> {
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid } = found
  if (inboxUid !== null) return undefined
  const list = (ids: readonly string[] | undefined) => ids ?? []
  const add = { inboxIds: list(body.add_inbox_ids), podIds: podId === null ? list(body.add_pod_ids) : [] }
  const remove = { inboxIds: list(body.remove_inbox_ids), podIds: podId === null ? list(body.remove_pod_ids) : [] }
  const named = {
    inboxIds: [...new Set([...add.inboxIds, ...remove.inboxIds])],
    podIds: [...new Set([...add.podIds, ...remove.podIds])],
  }
  if (named.inboxIds.length === 0 && named.podIds.length === 0) return undefined
  const { inboxes, pods } = await resolveIds(gateway, organizationId, podId ?? undefined, named)
  return {
    added: { inboxes: inboxes.required(add.inboxIds), podIds: pods.required(add.podIds) },
    removed: {
      inboxUids: inboxes.known(remove.inboxIds).map(({ uid }) => uid),
      podIds: pods.known(remove.podIds),
    },
  }
}

async function apply(
  { timers }: UpdateOptions,
  tx: Tx,
  caller: Caller,
  webhook: WebhookRow,
  { body, change }: { readonly body: Body; readonly change: FilterChange | undefined },
): Promise<WebhookRow> {
  const before = filtersOf(webhook)
  const filters = change && !coversScope(webhook) ? changedFilters(before, change) : before
  const enabled = body.enabled ?? webhook.enabled
  const isEnabledAgain = enabled && !webhook.enabled
  if (isEnabledAgain && webhook.is_filtered && !isFiltered(filters)) {
    throw invalid(
      ['enabled'],
      'All inboxes and pods of this webhook are deleted; add one with add_inbox_ids or add_pod_ids',
    )
  }
  if (!enabled && webhook.enabled) {
    await disableWebhook(tx, webhook.id, (ids) => timers.cancelIdle(tx, 'webhook-delivery', ids))
  }
  while (isEnabledAgain && (await dropSomeOfDisabled(tx, webhook.id))) {
    // It was disabled by another request meanwhile, and that had more to drop.
  }
  if (body.enabled === true) await stopFailureClocks(tx, [webhook.id])
  const named = body.event_types ?? []
  const eventTypes = named.length > 0 ? [...new Set(named)] : webhook.event_types
  const isSubscribing = named.length > 0 || isEnabledAgain
  return updateWebhook(tx, webhook.id, {
    eventTypes,
    filters,
    enabled,
    // Those of the key that subscribed last stay with the webhook (events 4).
    visibleLabels: isSubscribing ? visibleLabels(caller.credential) : undefined,
  })
}

/** Whether a webhook is about all of its organization or pod; adding to it would narrow it. */
function coversScope({ is_filtered, pod_id, pod_ids }: WebhookRow): boolean {
  return !is_filtered || (pod_id !== null && pod_ids.includes(pod_id))
}

function filtersOf({ pod_ids: podIds, inbox_uids, inbox_ids }: WebhookRow): Filters {
  return { podIds, inboxes: inbox_uids.map((uid, index) => ({ uid, address: inbox_ids[index] ?? '' })) }
}
