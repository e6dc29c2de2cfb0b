import { type Caller, visibleLabels } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import type { Database, Queryable, Tx } from '@restante/service/database'
import { ApiError, invalid } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { isInScope, requireEventTypes, scopeFilter } from '@restante/service/identity'
import type { SecretBox } from '@restante/service/secrets'
import { base62Id } from '../delivery/ids.ts'
import { newSecret, sealHeaders, sealSecret } from '../delivery/secrets.ts'
import { isFiltered, resolveIds } from './filters.ts'
import { requireCurrent, requireLiving } from './races.ts'
import { type Home, homeOf, requireFreeFilters } from './scope.ts'
import {
  countWebhooksOf,
  dropAlias,
  type Filters,
  findByClientId,
  insertWebhook,
  locationOf,
  lockWebhooksOf,
  type WebhookRow,
} from './store.ts'

type Body = RequestOf<'webhooks.create'>['body']

export interface CreateOptions {
  readonly db: Database
  /** Creates of one organization run one after the other: this way they hold one connection instead of all. */
  readonly mutex: KeyedMutex
  readonly gateway: ServiceClient<'webhooks-dispatcher'>
  readonly box: SecretBox
  /** Whether this installation accepts webhook URLs without TLS. */
  readonly allowHttp: boolean
}

/** Creates a webhook, or returns the one that has the same `client_id` (events 7.3). */
export async function createWebhook(deps: CreateOptions, caller: Caller, body: Body): Promise<WebhookRow> {
  if (!deps.allowHttp && !body.url.toLowerCase().startsWith('https:')) throw invalid(['url'], 'Must be an https URL')
  requireFreeFilters(caller, body)
  await requireCurrent(deps.db, caller)
  await freeAlias(deps, caller, body.client_id)
  const existing = await replay(deps.db, caller, body.client_id)
  if (existing) return existing
  requireEventTypes(caller.credential, body.event_types, 'webhook')
  const home = homeOf(caller)
  const filters = await filtersOf(deps, caller, home, body)
  return deps.mutex.run(caller.organization_id, () =>
    deps.db.transaction(async (tx) => {
      await lockWebhooksOf(tx, caller.organization_id)
      await requireCurrent(tx, caller)
      // A concurrent create with the same client_id may have been first: both answer with its webhook.
      const winner = await replay(tx, caller, body.client_id)
      if (winner) return winner
      await requireLiving(tx, caller.organization_id, filters, home.podId)
      await requireRoom(tx, caller.organization_id)
      return insert(deps, tx, caller, body, home, filters)
    }),
  )
}

/**
 * Removes the alias from a webhook whose inbox or pod is deleted. The webhook is deleted when that event is consumed
 * here, but its alias is free as soon as the deletion was answered (identity 10.2): a repeated create that was answered
 * with this webhook would lose it a moment later.
 */
async function freeAlias({ db, gateway }: CreateOptions, caller: Caller, clientId: string | undefined): Promise<void> {
  const known = clientId === undefined ? undefined : await findByClientId(db, caller.organization_id, clientId)
  if (!known || isHome(caller, known)) return
  const { inbox_uid: inbox, pod_id: pod } = known
  const { inboxes, pods } = await gateway.call('gateway.lookupInboxes', {
    organization_id: caller.organization_id,
    inboxes: inbox === null ? [] : [inbox],
    pods: inbox !== null || pod === null ? [] : [pod],
  })
  if (inboxes.length === 0 && pods.length === 0) await dropAlias(db, known.id)
}

/** Whether a webhook belongs to what the gateway has just found, or to the organization itself. */
function isHome(caller: Caller, { inbox_uid: inbox, pod_id: pod }: WebhookRow): boolean {
  return inbox === null ? pod === null || pod === caller.pod_id : inbox === caller.inbox?.uid
}

/** @throws ApiError 409 when the alias is held outside the scope of the request; nothing of that webhook is shown. */
async function replay(on: Queryable, caller: Caller, clientId: string | undefined): Promise<WebhookRow | undefined> {
  if (clientId === undefined) return undefined
  const known = await findByClientId(on, caller.organization_id, clientId)
  if (!known) return undefined
  if (isInScope(scopeFilter(caller), locationOf(known))) return known
  throw new ApiError('conflict', { message: 'client_id is used by another webhook', fix: 'Use another client_id.' })
}

/** A narrower scope is its own filter, unless the request names inboxes of a pod (events 7.2). */
async function filtersOf({ gateway }: CreateOptions, caller: Caller, home: Home, body: Body): Promise<Filters> {
  if (home.inbox) return { podIds: [], inboxes: [home.inbox] }
  const named = { inboxIds: body.inbox_ids ?? [], podIds: body.pod_ids ?? [] }
  if (named.inboxIds.length === 0 && named.podIds.length === 0)
    return { podIds: home.podId === undefined ? [] : [home.podId], inboxes: [] }
  const { inboxes, pods } = await resolveIds(gateway, caller.organization_id, home.podId, named)
  return {
    inboxes: [...new Map(inboxes.required(named.inboxIds).map((inbox) => [inbox.uid, inbox])).values()],
    podIds: [...new Set(pods.required(named.podIds))],
  }
}

function insert(
  deps: CreateOptions,
  tx: Tx,
  caller: Caller,
  body: Body,
  home: Home,
  filters: Filters,
): Promise<WebhookRow> {
  const id = base62Id('ep_')
  return insertWebhook(tx, {
    id,
    organizationId: caller.organization_id,
    podId: home.podId ?? null,
    inbox: home.inbox,
    url: body.url,
    secret: sealSecret(deps.box, id, newSecret()),
    headers: body.headers ? sealHeaders(deps.box, id, body.headers) : null,
    eventTypes: [...new Set(body.event_types)],
    filters,
    isFiltered: isFiltered(filters),
    // They stay with the webhook whatever happens to the key (events 4).
    visibleLabels: visibleLabels(caller.credential),
    clientId: body.client_id ?? null,
    createdBy: caller.credential.id,
    takeOvers: caller.take_overs ?? 0,
  })
}

async function requireRoom(tx: Tx, organizationId: string): Promise<void> {
  const limit = LIMITS.webhook.perOrganization
  if ((await countWebhooksOf(tx, organizationId)) < limit) return
  throw new ApiError('limit_exceeded', {
    message: 'Webhook limit exceeded',
    fix: 'Delete a webhook that is no longer needed.',
    details: { resource: 'webhook', limit },
  })
}
