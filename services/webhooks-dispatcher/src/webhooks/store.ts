import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'
import type { Located, ScopeFilter } from '@restante/service/identity'

export interface WebhookRow {
  readonly id: string
  readonly organization_id: string
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly inbox_id: string | null
  readonly url: string
  readonly secret: Uint8Array
  readonly enabled: boolean
  readonly event_types: string[]
  readonly is_filtered: boolean
  readonly pod_ids: string[]
  readonly inbox_uids: string[]
  readonly inbox_ids: string[]
  readonly client_id: string | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The filters as they are stored: pods by id, inboxes by uid and address. */
export interface Filters {
  readonly podIds: readonly string[]
  readonly inboxes: readonly { readonly uid: string; readonly address: string }[]
}

export interface NewWebhook {
  readonly id: string
  readonly organizationId: string
  readonly podId: string | null
  readonly inbox: { readonly uid: string; readonly address: string } | undefined
  readonly url: string
  readonly secret: Uint8Array
  readonly headers: Uint8Array | null
  readonly eventTypes: readonly string[]
  readonly filters: Filters
  readonly isFiltered: boolean
  readonly visibleLabels: readonly string[]
  readonly clientId: string | null
  readonly createdBy: string | null
  readonly takeOvers: number
}

/** Where a webhook lies in its organization. */
export function locationOf(row: WebhookRow): Located {
  return { organizationId: row.organization_id, podId: row.pod_id, inboxUid: row.inbox_uid }
}

const COLUMNS = `id, organization_id, pod_id, inbox_uid, inbox_id, url, secret, enabled, event_types, is_filtered, pod_ids, inbox_uids, inbox_ids, client_id, created_by, created_at, updated_at`
/** Condition on `$1` to `$3`, the values of a scope. */
export const IN_SCOPE = `organization_id = $1 and ($2::uuid is null or pod_id = $2) and ($3::uuid is null or inbox_uid = $3)`
export type Scope = [organization: string, pod: string | null, inbox: string | null]

export function scopeValues(scope: ScopeFilter): Scope {
  return [scope.organizationId, scope.podId ?? null, scope.inboxUid ?? null]
}

const SELECT_NEWEST_FIRST = sql<WebhookRow, [...Scope, createdAt: string | null, id: string | null, limit: number]>(
  `select ${COLUMNS} from webhooks where ${IN_SCOPE} and ($4::timestamptz is null or (created_at, id) < ($4, $5))
   order by created_at desc, id desc limit $6`,
)
const SELECT_OLDEST_FIRST = sql<WebhookRow, [...Scope, createdAt: string | null, id: string | null, limit: number]>(
  `select ${COLUMNS} from webhooks where ${IN_SCOPE} and ($4::timestamptz is null or (created_at, id) > ($4, $5))
   order by created_at, id limit $6`,
)

/** A keyset page of webhooks by creation. */
export function listWebhooks(on: Queryable, scope: ScopeFilter, page: KeysetPage): Promise<WebhookRow[]> {
  const statement = page.ascending ? SELECT_OLDEST_FIRST : SELECT_NEWEST_FIRST
  const { after, take } = page
  return on.query(statement, ...scopeValues(scope), after?.time.toISOString() ?? null, after?.id ?? null, take)
}

// A matching id takes precedence over an equal client_id.
const SELECT_ONE = sql<WebhookRow, [...Scope, idOrAlias: string]>(
  `select ${COLUMNS} from webhooks where ${IN_SCOPE} and (id = $4 or client_id = $4) order by id = $4 desc limit 1`,
)

export async function findWebhook(
  on: Queryable,
  scope: ScopeFilter,
  idOrAlias: string,
): Promise<WebhookRow | undefined> {
  const [row] = await on.query(SELECT_ONE, ...scopeValues(scope), idOrAlias)
  return row
}

const INSERT_ONE = sql<
  WebhookRow,
  [
    id: string,
    organizationId: string,
    podId: string | null,
    inboxUid: string | null,
    inboxId: string | null,
    url: string,
    secret: Uint8Array,
    headers: Uint8Array | null,
    eventTypes: readonly string[],
    podIds: readonly string[],
    inboxUids: readonly string[],
    inboxIds: readonly string[],
    visibleLabels: readonly string[],
    clientId: string | null,
    createdBy: string | null,
    takeOvers: number,
    isFiltered: boolean,
  ]
>(
  `insert into webhooks (id, organization_id, pod_id, inbox_uid, inbox_id, url, secret, headers, event_types, pod_ids,
     inbox_uids, inbox_ids, visible_labels, client_id, created_by, take_overs, is_filtered)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning ${COLUMNS}`,
)

/** Stores a webhook that is enabled from now on. */
export async function insertWebhook(on: Queryable, webhook: NewWebhook): Promise<WebhookRow> {
  const { inbox, filters } = webhook
  const [row] = await on.query(
    INSERT_ONE,
    webhook.id,
    webhook.organizationId,
    webhook.podId,
    inbox?.uid ?? null,
    inbox?.address ?? null,
    webhook.url,
    webhook.secret,
    webhook.headers,
    webhook.eventTypes,
    filters.podIds,
    filters.inboxes.map(({ uid }) => uid),
    filters.inboxes.map(({ address }) => address),
    webhook.visibleLabels,
    webhook.clientId,
    webhook.createdBy,
    webhook.takeOvers,
    webhook.isFiltered,
  )
  if (!row) throw new Error('The webhook that was just created was not found')
  return row
}

const LOCK_ONE = sql<WebhookRow, [...Scope, idOrAlias: string]>(
  `select ${COLUMNS} from webhooks where ${IN_SCOPE} and (id = $4 or client_id = $4) order by id = $4 desc limit 1 for update`,
)

/** Locks a webhook against deliveries and changes. */
export async function lockWebhook(tx: Tx, scope: ScopeFilter, idOrAlias: string): Promise<WebhookRow | undefined> {
  const [row] = await tx.query(LOCK_ONE, ...scopeValues(scope), idOrAlias)
  return row
}

/** What a request changes. */
export interface WebhookChange {
  readonly eventTypes: readonly string[]
  readonly filters: Filters
  readonly enabled: boolean
  /** Undefined: those that it has. */
  readonly visibleLabels: readonly string[] | undefined
}

const IS_CHANGED =
  '(event_types, pod_ids, inbox_uids, visible_labels) is distinct from ($2, $3, $4, coalesce($7, visible_labels))'
/** Changes that are remembered, for the events before them that are still to come. */
const EARLIER = 10
const WITH_PRESENT_RULES = `jsonb_path_query_array(
  jsonb_build_array(jsonb_build_object('until', now(), 'event_types', event_types, 'pod_ids', pod_ids,
    'inbox_uids', inbox_uids, 'visible_labels', visible_labels)) || earlier_rules, '$[0 to ${EARLIER - 1}]')`

// A webhook that is enabled again gets only events from now on, and one that changes in nothing keeps its time.
const UPDATE_ONE = sql<
  WebhookRow,
  [
    id: string,
    eventTypes: readonly string[],
    podIds: readonly string[],
    inboxUids: readonly string[],
    inboxIds: readonly string[],
    enabled: boolean,
    visibleLabels: readonly string[] | null,
  ]
>(
  `update webhooks set event_types = $2, pod_ids = $3, inbox_uids = $4, inbox_ids = $5, enabled = $6,
     visible_labels = coalesce($7, visible_labels),
     active_since = case when $6 and not enabled then now() else active_since end,
     matching_since = case when ${IS_CHANGED} then now() else matching_since end,
     earlier_rules = case when ${IS_CHANGED} then ${WITH_PRESENT_RULES} else earlier_rules end,
     updated_at = case when (event_types, pod_ids, inbox_uids, enabled) is distinct from ($2, $3, $4, $6) then now() else updated_at end
   where id = $1 returning ${COLUMNS}`,
)

/** Changes a webhook that the transaction has locked. */
export async function updateWebhook(tx: Tx, id: string, change: WebhookChange): Promise<WebhookRow> {
  const { eventTypes, filters, enabled, visibleLabels } = change
  const [row] = await tx.query(
    UPDATE_ONE,
    id,
    eventTypes,
    filters.podIds,
    filters.inboxes.map(({ uid }) => uid),
    filters.inboxes.map(({ address }) => address),
    enabled,
    visibleLabels ?? null,
  )
  if (!row) throw new Error('The webhook that was just locked was not found')
  return row
}

const SELECT_HEADERS = sql<{ id: string; headers: Uint8Array | null }, [...Scope, idOrAlias: string]>(
  `select id, headers from webhooks where ${IN_SCOPE} and (id = $4 or client_id = $4) order by id = $4 desc limit 1`,
)

/** The sealed headers of a webhook, with its id. */
export async function findHeaders(
  on: Queryable,
  scope: ScopeFilter,
  idOrAlias: string,
): Promise<{ id: string; headers: Uint8Array | null } | undefined> {
  const [row] = await on.query(SELECT_HEADERS, ...scopeValues(scope), idOrAlias)
  return row
}

const UPDATE_HEADERS = sql<unknown, [id: string, headers: Uint8Array | null]>(
  'update webhooks set headers = $2, updated_at = now() where id = $1',
)

export async function saveHeaders(tx: Tx, id: string, headers: Uint8Array | null): Promise<void> {
  await tx.query(UPDATE_HEADERS, id, headers)
}

const SELECT_BY_ALIAS = sql<WebhookRow, [organizationId: string, clientId: string]>(
  `select ${COLUMNS} from webhooks where organization_id = $1 and client_id = $2`,
)

/** In the whole organization, whatever the scope of the request. */
export async function findByClientId(
  on: Queryable,
  organizationId: string,
  clientId: string,
): Promise<WebhookRow | undefined> {
  const [row] = await on.query(SELECT_BY_ALIAS, organizationId, clientId)
  return row
}

const FORGET_ALIAS = sql<unknown, [id: string]>('update webhooks set client_id = null where id = $1')

/** Frees the alias of a webhook that is about to be deleted. */
export async function dropAlias(on: Queryable, id: string): Promise<void> {
  await on.query(FORGET_ALIAS, id)
}

const LOCK_ORGANIZATION = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1, 0))`,
)

/** Serializes changes to the webhooks of one organization, so that its limit is counted exactly. */
export async function lockWebhooksOf(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(LOCK_ORGANIZATION, organizationId)
}

const COUNT_WEBHOOKS = sql<{ count: number }, [organizationId: string]>(
  'select count(*)::int as count from webhooks where organization_id = $1',
)
export async function countWebhooksOf(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx.query(COUNT_WEBHOOKS, organizationId)
  return row?.count ?? 0
}

const SELECT_TAKE_OVER = sql<{ take_overs: number }, [organizationId: string]>(
  'select take_overs from take_overs where organization_id = $1',
)

/** Whether an organization was taken over since a request was admitted. @param takeOvers number at its admission. */
export async function isSuperseded(on: Queryable, organizationId: string, takeOvers: number): Promise<boolean> {
  const [latest] = await on.query(SELECT_TAKE_OVER, organizationId)
  return latest !== undefined && latest.take_overs > takeOvers
}

const DELETE_ONE = sql<unknown, [id: string]>(
  `with ended as (delete from webhooks where id = $1 returning id)
   insert into ended_webhooks (id) select id from ended`,
)

/** Deletes a webhook; its log is swept later, because it may be long. */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.query(DELETE_ONE, id)
}
