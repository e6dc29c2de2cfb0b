import { type Queryable, sql, type Transactional, type Tx } from '@restante/service/database'
import { logDropped } from '../log/store.ts'
import type { FailureClock } from './rules/failure-clock.ts'
import type { Subscriber } from './rules/matching.ts'

const SELECT_SUBSCRIBERS = sql<Subscriber & { id: string }, [organizations: readonly string[]]>(
  `select id, organization_id, is_filtered, event_types, pod_ids, inbox_uids, visible_labels, active_since, matching_since,
          earlier_rules
   from webhooks where organization_id = any($1::uuid[]) and enabled`,
)

/** The enabled webhooks of some organizations; there are at most 50 in each. */
export function subscribersOf(
  on: Queryable,
  organizations: readonly string[],
): Promise<(Subscriber & { id: string })[]> {
  return on.query(SELECT_SUBSCRIBERS, organizations)
}

const LOCK_ENABLED = sql<{ id: string }, [ids: readonly string[]]>(
  'select id from webhooks where id = any($1::text[]) and enabled order by id for key share',
)

/**
 * Locks webhooks until the transaction ends, so that none is deleted or disabled between this check and the insertion
 * of deliveries for it: dropping its deliveries would miss these. What deletes, disables or changes a webhook locks its
 * row for update. Failed attempts lock it for less, and do not wait here: otherwise the events of every webhook would
 * wait for the attempts of one that fails.
 * @returns those that still exist and are enabled.
 */
export async function holdEnabled(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const held = await tx.query(LOCK_ENABLED, ids)
  return new Set(held.map(({ id }) => id))
}

// Scalar subqueries, because `exists` may be planned as a scan of the whole table.
const SELECT_KNOWN = sql<
  { webhook_id: string; event_id: string },
  [webhooks: readonly string[], events: readonly string[]]
>(
  `select webhook_id, event_id from unnest($1::text[], $2::uuid[]) as wanted (webhook_id, event_id)
   where coalesce(
     (select true from deliveries d where d.webhook_id = wanted.webhook_id and d.event_id = wanted.event_id),
     (select true from delivery_log l where l.webhook_id = wanted.webhook_id and l.event_id = wanted.event_id))`,
)

/**
 * Of some webhooks and events those pairs of which there is, or was, a delivery: its receiver knows the event by the id
 * of that one.
 */
export function knownPairs(
  tx: Tx,
  pairs: readonly { readonly webhook_id: string; readonly event_id: string }[],
): Promise<{ webhook_id: string; event_id: string }[]> {
  return tx.query(
    SELECT_KNOWN,
    pairs.map(({ webhook_id }) => webhook_id),
    pairs.map(({ event_id }) => event_id),
  )
}

export interface NewDelivery {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
}

/** The document of an event. */
export interface EventDocument {
  readonly body: string
  /** Where Kafka keeps it (`formatPosition`); null: nowhere. */
  readonly record: string | null
}

const INSERT_PAYLOADS = sql<
  unknown,
  [ids: readonly string[], bodies: readonly string[], records: readonly (string | null)[]]
>(
  `insert into payloads (event_id, body, record) select * from unnest($1::uuid[], $2::text[], $3::text[]) on conflict do nothing`,
)
const INSERT_DELIVERIES = sql<
  unknown,
  [ids: readonly string[], webhooks: readonly string[], events: readonly string[], types: readonly string[]]
>(
  `insert into deliveries (id, webhook_id, event_id, event_type)
   select * from unnest($1::text[], $2::text[], $3::uuid[], $4::text[])`,
)

/** Stores deliveries with the documents they carry, each document once. */
export async function addDeliveries(
  tx: Tx,
  payloads: ReadonlyMap<string, EventDocument>,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const documents = tx.query(
    INSERT_PAYLOADS,
    [...payloads.keys()],
    [...payloads.values()].map(({ body }) => body),
    [...payloads.values()].map(({ record }) => record),
  )
  const added = tx.query(
    INSERT_DELIVERIES,
    deliveries.map(({ id }) => id),
    deliveries.map(({ webhook_id }) => webhook_id),
    deliveries.map(({ event_id }) => event_id),
    deliveries.map(({ event_type }) => event_type),
  )
  await Promise.all([documents, added])
}

/** A delivery with everything that an attempt needs. */
export interface PendingDelivery {
  readonly id: string
  readonly attempts: number
  readonly event_id: string
  readonly event_type: string
  readonly body: string
  readonly record: string | null
  /** Of a delivery that was asked for: the inbox that it is about, and the message in it, if it is about one. */
  readonly message_inbox_uid: string | null
  readonly message_id: string | null
  readonly created_at: Date
  readonly webhook_id: string
  readonly organization_id: string
  readonly url: string
  readonly secret: Uint8Array
  readonly headers: Uint8Array | null
  readonly enabled: boolean
}

// `offset 0`, here and below: rows are found one by one (decision 110).
const SELECT_PENDING = sql<PendingDelivery, [ids: readonly string[]]>(
  `select d.id, d.attempts, d.event_id, d.event_type, d.created_at, d.message_inbox_uid, d.message_id, p.body, p.record, w.id as webhook_id, w.organization_id, w.url, w.secret, w.headers, w.enabled
   from unnest($1::text[]) as wanted (id)
   cross join lateral (select * from deliveries where id = wanted.id offset 0) as d
   cross join lateral (select body, record from payloads where event_id = d.event_id offset 0) as p
   cross join lateral (select * from webhooks where id = d.webhook_id offset 0) as w`,
)

/** The given deliveries, without those that have ended and those whose webhook has been deleted. */
export function findPending(on: Queryable, ids: readonly string[]): Promise<PendingDelivery[]> {
  return on.query(SELECT_PENDING, ids)
}

// Without the locks the last two deliveries of one event could each see the other and both leave the document.
const LOCK_PAYLOADS = sql<unknown, [eventIds: readonly string[]]>(
  'select 1 from payloads where event_id = any($1::uuid[]) order by event_id for update',
)
const DELETE_DELIVERIES = sql<unknown, [ids: readonly string[], eventIds: readonly string[]]>(
  `with gone as (delete from deliveries where id = any($1::text[]))
   delete from payloads p
   where event_id = any($2::uuid[])
     and not exists (select 1 from deliveries d where d.event_id = p.event_id and d.id <> all($1::text[]) offset 0)`,
)

/**
 * Ends deliveries; a document is deleted with its last one. Webhooks are locked before documents, here and everywhere.
 */
export async function endDeliveries(
  tx: Tx,
  deliveries: readonly { readonly id: string; readonly event_id: string }[],
): Promise<void> {
  const events = [...new Set(deliveries.map(({ event_id }) => event_id))]
  await Promise.all([
    tx.query(LOCK_PAYLOADS, events),
    tx.query(
      DELETE_DELIVERIES,
      deliveries.map(({ id }) => id),
      events,
    ),
  ])
}

const COUNT_ATTEMPT = sql<{ attempts: number }, [id: string]>(
  'update deliveries set attempts = attempts + 1 where id = $1 returning attempts',
)

/** @returns how many attempts have failed; undefined when the delivery was dropped while the last one was made. */
export async function recordFailedAttempt(tx: Tx, id: string): Promise<number | undefined> {
  return (await tx.query(COUNT_ATTEMPT, id))[0]?.attempts
}

const CLEAR_CLOCKS = sql<unknown, [webhookIds: readonly string[]]>(
  `with failing as (
     select id from webhooks where id = any($1::text[]) and failing_since is not null order by id for no key update)
   update webhooks set failing_since = null, clock_started_at = null, warned_at = null
   where id = any(array(select id from failing))`,
)

/** A success stops the failure clock of its webhook. */
export async function stopFailureClocks(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  await tx.query(CLEAR_CLOCKS, webhookIds)
}

interface ClockRow {
  readonly failing_since: Date | null
  readonly clock_started_at: Date | null
  readonly warned_at: Date | null
}
const SELECT_CLOCK = sql<ClockRow, [webhookId: string]>(
  'select failing_since, clock_started_at, warned_at from webhooks where id = $1 and enabled for no key update',
)
const UPDATE_CLOCK = sql<
  unknown,
  [webhookId: string, failingSince: Date | null, startedAt: Date | null, warnedAt: Date | null]
>('update webhooks set failing_since = $2, clock_started_at = $3, warned_at = $4 where id = $1')

/** Reads the clock under a lock, which does not affect new deliveries. `undefined` when the webhook is deleted or disabled. */
export async function lockFailureClock(tx: Tx, webhookId: string): Promise<FailureClock | undefined> {
  const [row] = await tx.query(SELECT_CLOCK, webhookId)
  return row && { failingSince: row.failing_since, clockStartedAt: row.clock_started_at, warnedAt: row.warned_at }
}

export async function saveFailureClock(tx: Tx, webhookId: string, clock: FailureClock): Promise<void> {
  await tx.query(UPDATE_CLOCK, webhookId, clock.failingSince, clock.clockStartedAt, clock.warnedAt)
}

const DISABLE = sql<unknown, [webhookId: string]>(
  `update webhooks set enabled = false, failing_since = null, clock_started_at = null, warned_at = null, updated_at = now() where id = $1`,
)
const LOCK_WEBHOOK = sql<unknown, [webhookId: string]>('select 1 from webhooks where id = $1 for update')
const LOCK_DISABLED = sql<{ one: number }, [webhookId: string]>(
  'select 1 as one from webhooks where id = $1 and not enabled for update',
)
const SELECT_EVENTS = sql<{ event_id: string }, [webhookId: string, limit: number]>(
  'select event_id from deliveries where webhook_id = $1 order by event_id limit $2',
)
const DELETE_DELIVERIES_OF_WEBHOOK = sql<{ id: string }, [webhookId: string, eventIds: readonly string[]]>(
  'delete from deliveries where webhook_id = $1 and event_id = any($2::uuid[]) returning id',
)
const DELETE_UNUSED_PAYLOADS = sql<unknown, [eventIds: readonly string[]]>(
  `delete from payloads p where event_id = any($1::uuid[]) and not exists (select 1 from deliveries d where d.event_id = p.event_id offset 0)`,
)

/** Deliveries per statement, and per transaction where that is possible: about half a second. */
const DROPPED_AT_ONCE = 2_000

/** Called with the ids of deliveries that were dropped, in batches. */
export type OnDropped = (ids: readonly string[]) => Promise<void>

/** @returns how many were dropped; when that is a full batch there may be more. */
async function dropBatch(tx: Tx, webhookId: string, onDropped: OnDropped = async () => {}): Promise<number> {
  const events = (await tx.query(SELECT_EVENTS, webhookId, DROPPED_AT_ONCE)).map(({ event_id }) => event_id)
  if (events.length === 0) return 0
  await tx.query(LOCK_PAYLOADS, events)
  const dropped = await tx.query(DELETE_DELIVERIES_OF_WEBHOOK, webhookId, events)
  await tx.query(DELETE_UNUSED_PAYLOADS, events)
  await onDropped(dropped.map(({ id }) => id))
  return events.length
}

/**
 * Drops all pending deliveries of a webhook whose row the transaction has locked, documents included. Timers are not
 * cancelled: a timer that finds no delivery ends. Cancelling them all here would wait for attempts that wait for the
 * webhook.
 */
export async function dropDeliveries(tx: Tx, webhookId: string, onDropped?: OnDropped): Promise<void> {
  while ((await dropBatch(tx, webhookId, onDropped)) === DROPPED_AT_ONCE) {
    // There may be more.
  }
}

/**
 * Disables a webhook and drops its pending retries (events 8.4): the first ones here, and others with
 * `dropOfDisabled`. New deliveries for all webhooks wait for this transaction, and 100,000 retries take half a minute.
 * Until they are dropped they are not sent: an attempt of a disabled webhook ends its delivery.
 */
export async function disableWebhook(tx: Tx, webhookId: string, onDropped?: OnDropped): Promise<void> {
  // Deliveries that are being added are waited for, and dropped.
  await tx.query(LOCK_WEBHOOK, webhookId)
  await tx.query(DISABLE, webhookId)
  await logDropped(tx, webhookId, DROPPED_AT_ONCE)
  await dropBatch(tx, webhookId, onDropped)
}

/** Drops what a disabled webhook still has pending, a batch in each transaction. It must be done before enabling it. */
export async function dropOfDisabled(db: Transactional, webhookId: string, onDropped?: OnDropped): Promise<void> {
  const dropSome = (tx: Tx) => dropSomeOfDisabled(tx, webhookId, onDropped)
  while (await db.transaction(dropSome)) {
    // There may be more.
  }
}

/** @returns whether there may be more. */
export async function dropSomeOfDisabled(tx: Tx, webhookId: string, onDropped?: OnDropped): Promise<boolean> {
  const [disabled] = await tx.query(LOCK_DISABLED, webhookId)
  if (!disabled) return false
  const logged = await logDropped(tx, webhookId, DROPPED_AT_ONCE)
  const dropped = await dropBatch(tx, webhookId, onDropped)
  return logged === DROPPED_AT_ONCE || dropped === DROPPED_AT_ONCE
}
