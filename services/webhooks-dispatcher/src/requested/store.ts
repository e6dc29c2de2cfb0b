import type { WebhookDelivery } from '@restante/contracts/resources'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { InboxReference } from '../delivery/mailbox.ts'
import type { Subscriber } from '../delivery/rules/matching.ts'
import { LOG_COLUMNS, type LogRow } from '../log/store.ts'

const SELECT_ENTRY = sql<LogRow & { record: string | null }, [webhookId: string, deliveryId: string]>(
  `select ${LOG_COLUMNS}, record from delivery_log where webhook_id = $1 and id = $2`,
)

/** The log entry of a delivery, with the place where Kafka keeps its event. */
export async function findEntry(
  on: Queryable,
  webhookId: string,
  deliveryId: string,
): Promise<(LogRow & { record: string | null }) | undefined> {
  return (await on.query(SELECT_ENTRY, webhookId, deliveryId))[0]
}

// Before its first attempt a delivery has no entry yet.
const SELECT_PENDING = sql<LogRow, [webhookId: string, deliveryId: string]>(
  `select d.id, d.webhook_id, d.event_id, l.shown_event_id, d.event_type, coalesce(l.created_at, d.created_at) as created_at, 'retrying' as state,
     coalesce(l.attempts, '[]') as attempts, now()::timestamptz(3) as next_attempt_at
   from deliveries d left join delivery_log l on l.id = d.id where d.webhook_id = $1 and d.id = $2`,
)
// An attempt may have ended it since it was found.
const DUE_NOW = sql<unknown, [deliveryId: string]>(
  `update delivery_log set next_attempt_at = now() where id = $1 and state = 'retrying'`,
)

/** A delivery that has not ended, as it is when its next attempt is due now. */
export async function findPending(on: Queryable, webhookId: string, deliveryId: string): Promise<LogRow | undefined> {
  return (await on.query(SELECT_PENDING, webhookId, deliveryId))[0]
}

/** Records in the log that the next attempt of a pending delivery is due now. */
export async function logDueNow(tx: Tx, deliveryId: string): Promise<void> {
  await tx.query(DUE_NOW, deliveryId)
}

/** What decides whether events are sent again to a webhook. */
export interface RequestedWebhook extends Subscriber {
  readonly id: string
  readonly enabled: boolean
}

const WEBHOOK = `select id, organization_id, enabled, is_filtered, event_types, pod_ids, inbox_uids, visible_labels,
  active_since, matching_since, earlier_rules from webhooks where id = $1`
const SELECT_WEBHOOK = sql<RequestedWebhook, [id: string]>(WEBHOOK)
const LOCK_WEBHOOK = sql<RequestedWebhook, [id: string]>(`${WEBHOOK} for update`)

/** A webhook of any organization: for the operator. */
export async function findAnyWebhook(on: Queryable, id: string): Promise<RequestedWebhook | undefined> {
  return (await on.query(SELECT_WEBHOOK, id))[0]
}

/** The same, locked against changes, deletion and take-overs. */
export async function lockAnyWebhook(tx: Tx, id: string): Promise<RequestedWebhook | undefined> {
  return (await tx.query(LOCK_WEBHOOK, id))[0]
}

const KNOWN = sql<{ event_id: string; id: string; pending: boolean }, [webhookId: string, eventIds: readonly string[]]>(
  `select event_id, id, false as pending from delivery_log l where webhook_id = $1 and event_id = any($2::uuid[])
     and not exists (select from deliveries d where d.id = l.id)
   union all
   select event_id, id, true from deliveries where webhook_id = $1 and event_id = any($2::uuid[])`,
)

/** The deliveries of events to a webhook: those that have not ended, and those that the log remembers. */
export async function knownDeliveries(
  on: Queryable,
  webhookId: string,
  eventIds: readonly string[],
): Promise<Map<string, { readonly id: string; readonly pending: boolean }>> {
  const rows = await on.query(KNOWN, webhookId, eventIds)
  return new Map(rows.map(({ event_id, ...delivery }) => [event_id, delivery]))
}

/** A delivery that was asked for. */
export interface RequestedDelivery {
  /** That of the earlier delivery of the event, if there was one. */
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly body: string
  readonly record: string
  /** What must exist at each attempt. Undefined: the event is about no inbox. */
  readonly about: InboxReference | undefined
}

// `do update` locks a document that exists: otherwise its last delivery could end, and delete it, before this one is added.
const KEEP_PAYLOADS = sql<
  unknown,
  [eventIds: readonly string[], bodies: readonly string[], records: readonly string[]]
>(
  `insert into payloads (event_id, body, record)
   select * from unnest($1::uuid[], $2::text[], $3::text[]) as document(event_id, body, record) order by event_id
   on conflict (event_id) do update set record = excluded.record`,
)
const INSERT_REQUESTED = sql<
  { id: string },
  [
    webhookId: string,
    ids: readonly string[],
    eventIds: readonly string[],
    types: readonly string[],
    inboxes: readonly (string | null)[],
    messages: readonly (string | null)[],
  ]
>(
  `insert into deliveries (id, webhook_id, event_id, event_type, message_inbox_uid, message_id)
   select id, $1, event_id, event_type, inbox_uid, message_id
   from unnest($2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::text[]) as d(id, event_id, event_type, inbox_uid, message_id)
   returning id`,
)
const LOG_REQUESTED = sql<unknown, [ids: readonly string[]]>(
  `update delivery_log set state = 'retrying', next_attempt_at = now() where id = any($1::text[])`,
)

/** Stores deliveries of a webhook that the transaction has locked; none of them may be pending. */
export async function addRequested(tx: Tx, webhookId: string, deliveries: readonly RequestedDelivery[]): Promise<void> {
  const ids = deliveries.map(({ id }) => id)
  const events = deliveries.map(({ event_id }) => event_id)
  await tx.query(
    KEEP_PAYLOADS,
    events,
    deliveries.map(({ body }) => body),
    deliveries.map(({ record }) => record),
  )
  await tx.query(
    INSERT_REQUESTED,
    webhookId,
    ids,
    events,
    deliveries.map(({ event_type }) => event_type),
    deliveries.map(({ about }) => about?.inboxUid ?? null),
    deliveries.map(({ about }) => about?.messageId ?? null),
  )
  await tx.query(LOG_REQUESTED, ids)
}

const LIST_LOG = sql<
  LogRow,
  [
    webhookId: string,
    since: string | null,
    state: string | null,
    createdAt: string | null,
    id: string | null,
    limit: number,
  ]
>(
  `select ${LOG_COLUMNS} from delivery_log
   where webhook_id = $1 and ($2::timestamptz is null or created_at >= $2) and ($3::text is null or state = $3)
     and ($4::timestamptz is null or (created_at, id) < ($4, $5))
   order by created_at desc, id desc limit $6`,
)

export interface LogFilter {
  readonly since?: string | undefined
  readonly state?: WebhookDelivery['state'] | undefined
  readonly after?: { readonly created_at: string; readonly delivery_id: string } | undefined
  readonly limit: number
}

/** The log of a webhook for the operator, newest first. */
export function filterLog(
  on: Queryable,
  webhookId: string,
  { since, state, after, limit }: LogFilter,
): Promise<LogRow[]> {
  const place = [after?.created_at ?? null, after?.delivery_id ?? null] as const
  return on.query(LIST_LOG, webhookId, since ?? null, state ?? null, ...place, limit)
}
