import { type Caller, visibleLabels } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import type { Database, Queryable, Tx } from '@restante/service/database'
import { ApiError, invalid, notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { isInScope, requireEventTypes, scopeFilter } from '@restante/service/identity'
import type { SecretBox } from '@restante/service/secrets'
import { deletedAmong } from '@restante/tenancy'
import { base62Id } from '../delivery/ids.ts'
import { newSecret, sealHeaders, sealSecret } from '../delivery/secrets.ts'
import { type Home, homeOf, requireFreeFilters } from './scope.ts'
import {
  countWebhooksOf,
  dropAlias,
  type Filters,
  findByClientId,
  insertWebhook,
  isSuperseded,
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
  const filters = await resolveFilters(deps, caller, home, body)
  return deps.mutex.run(caller.organization_id, () =>
    deps.db.transaction(async (tx) => {
      await lockWebhooksOf(tx, caller.organization_id)
      await requireCurrent(tx, caller)
      // A concurrent create with the same client_id may have been first: both answer with its webhook.
      const winner = await replay(tx, caller, body.client_id)
      if (winner) return winner
      await requireLiving(tx, caller, home, filters)
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

/** Asks the owner about the ids of the request: a projection must not answer "no". */
async function resolveFilters({ gateway }: CreateOptions, caller: Caller, home: Home, body: Body): Promise<Filters> {
  if (home.inbox) return { podIds: [], inboxes: [home.inbox] }
  const inboxIds = body.inbox_ids ?? []
  const podIds = body.pod_ids ?? []
  if (inboxIds.length === 0 && podIds.length === 0)
    return { podIds: home.podId === undefined ? [] : [home.podId], inboxes: [] }
  const found = await gateway.call('gateway.lookupInboxes', {
    organization_id: caller.organization_id,
    ...(home.podId !== undefined && { pod_id: home.podId }),
    inboxes: [...inboxIds],
    pods: [...podIds],
  })
  const inboxes = new Map(found.inboxes.map((inbox) => [inbox.given, { uid: inbox.inbox_uid, address: inbox.address }]))
  const pods = new Map(found.pods.map((pod) => [pod.given, pod.pod_id]))
  return {
    inboxes: [
      ...new Map(inboxIds.map((id) => known(inboxes, id, 'Inbox')).map((inbox) => [inbox.uid, inbox])).values(),
    ],
    podIds: [...new Set(podIds.map((id) => known(pods, id, 'Pod')))],
  }
}

function known<T>(found: ReadonlyMap<string, T>, id: string, resource: string): T {
  const value = found.get(id)
  if (value === undefined) throw notFound(resource)
  return value
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
    // They stay with the webhook whatever happens to the key (events 4).
    visibleLabels: visibleLabels(caller.credential),
    clientId: body.client_id ?? null,
    createdBy: caller.credential.id,
    takeOvers: caller.take_overs ?? 0,
  })
}

/**
 * Keys from before a take-over that happened since the gateway admitted the request create nothing, and get nothing
 * that the successor created (identity 5.1).
 */
async function requireCurrent(on: Queryable, caller: Caller): Promise<void> {
  if (await isSuperseded(on, caller.organization_id, caller.take_overs ?? 0)) throw new ApiError('unknown_api_key')
}

/** The gateway admitted the request a moment ago. A scope deleted since then must not return as a filter. */
async function requireLiving(tx: Tx, caller: Caller, home: Home, filters: Filters): Promise<void> {
  const pods = [...filters.podIds, ...(home.podId === undefined ? [] : [home.podId])]
  const inboxes = filters.inboxes.map(({ uid }) => uid)
  const deleted = await deletedAmong(tx, [caller.organization_id, ...pods, ...inboxes])
  if (deleted.has(caller.organization_id)) throw new ApiError('unknown_api_key')
  if (deleted.size > 0) throw notFound(pods.some((id) => deleted.has(id)) ? 'Pod' : 'Inbox')
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
