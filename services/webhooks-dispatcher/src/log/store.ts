import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { KeysetPage } from '@restante/service/http'

/** One request that was made, as the API shows it. */
export interface LoggedAttempt {
  readonly attempted_at: string
  readonly latency_ms: number
  readonly http_status?: number
  /** The kind of failure, never a response's content. */
  readonly error?: string
}

export type LoggedState = 'retrying' | 'delivered' | 'failed' | 'dropped'

/** What an attempt adds to the log. */
export interface LogEntry {
  readonly delivery: {
    readonly id: string
    readonly webhook_id: string
    readonly event_id: string
    readonly event_type: string
    readonly created_at: Date
    readonly record: string | null
    /** The document. */
    readonly body: string
  }
  readonly attempt: LoggedAttempt
  readonly state: LoggedState
  readonly nextAttemptAt: Date | undefined
}

type Columns = [
  ids: readonly string[],
  webhooks: readonly string[],
  events: readonly string[],
  types: readonly string[],
  createdAt: readonly string[],
  states: readonly string[],
  attempts: readonly string[],
  nextAttemptAt: readonly (string | null)[],
  records: readonly (string | null)[],
  shownEvents: readonly (string | null)[],
]

/** Attempts that an entry keeps: a delivery may be asked for without limit. */
const MOST_ATTEMPTS = 100

// By webhook and event, so that nothing keeps an attempt from being concluded: its request would be repeated for ever.
const RECORD = sql<unknown, Columns>(
  `insert into delivery_log (id, webhook_id, event_id, event_type, created_at, state, attempts, next_attempt_at, record,
     shown_event_id)
   select id, webhook_id, event_id, event_type, created_at, state, jsonb_build_array(attempt), next_attempt_at, record, shown
   from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[], $7::jsonb[], $8::timestamptz[], $9::text[], $10::text[])
     as entry (id, webhook_id, event_id, event_type, created_at, state, attempt, next_attempt_at, record, shown)
   on conflict (webhook_id, event_id) do update set state = excluded.state, next_attempt_at = excluded.next_attempt_at,
     attempts = case when jsonb_array_length(delivery_log.attempts) < ${MOST_ATTEMPTS} then delivery_log.attempts
                     else delivery_log.attempts - 0 end || excluded.attempts`,
)

/** Records attempts, in the transaction that concludes them. */
export async function logAttempts(tx: Tx, entries: readonly LogEntry[]): Promise<void> {
  await tx.query(
    RECORD,
    entries.map(({ delivery }) => delivery.id),
    entries.map(({ delivery }) => delivery.webhook_id),
    entries.map(({ delivery }) => delivery.event_id),
    entries.map(({ delivery }) => delivery.event_type),
    entries.map(({ delivery }) => delivery.created_at.toISOString()),
    entries.map(({ state }) => state),
    entries.map(({ attempt }) => JSON.stringify(attempt)),
    entries.map(({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? null),
    entries.map(({ delivery }) => delivery.record),
    entries.map(({ delivery }) => shownEventId(delivery)),
  )
}

/** Types whose documents have ids that are made of another id, and no UUIDs (calendar 17). */
const SPOKEN_IDS: ReadonlySet<string> = new Set(['calendar.event.starting', 'calendar.event.ending'])

/** The id by which the receiver knows the event, where that is not the id of the record in Kafka. */
function shownEventId({ event_type: type, body }: LogEntry['delivery']): string | null {
  if (!SPOKEN_IDS.has(type)) return null
  const document: unknown = JSON.parse(body)
  const hasId = typeof document === 'object' && document !== null && 'event_id' in document
  return hasId && typeof document.event_id === 'string' ? document.event_id : null
}

const DROP_RETRIED = sql<{ one: number }, [webhookId: string, limit: number]>(
  `update delivery_log set state = 'dropped', next_attempt_at = null
   where id = any(array(select id from delivery_log where webhook_id = $1 and state = 'retrying' limit $2)) returning 1 as one`,
)

/** Records that deliveries that a webhook was still retrying are dropped. @returns how many; `limit`: there may be more. */
export async function logDropped(tx: Tx, webhookId: string, limit: number): Promise<number> {
  return (await tx.query(DROP_RETRIED, webhookId, limit)).length
}

const DROP_ONE = sql<unknown, [id: string]>(
  `update delivery_log set state = 'dropped', next_attempt_at = null where id = $1`,
)

/** Records that a delivery ended without a further attempt, because its message or inbox was deleted. */
export async function logGone(tx: Tx, id: string): Promise<void> {
  await tx.query(DROP_ONE, id)
}

export interface LogRow {
  readonly id: string
  readonly webhook_id: string
  /** Of the record in Kafka. */
  readonly event_id: string
  readonly shown_event_id: string | null
  readonly event_type: string
  readonly created_at: Date
  readonly state: LoggedState
  readonly attempts: LoggedAttempt[]
  readonly next_attempt_at: Date | null
}

/** The columns of a `LogRow`. */
export const LOG_COLUMNS =
  'id, webhook_id, event_id, shown_event_id, event_type, created_at, state, attempts, next_attempt_at'
type Place = [webhookId: string, createdAt: string | null, id: string | null, limit: number]

const SELECT_NEWEST_FIRST = sql<LogRow, Place>(
  `select ${LOG_COLUMNS} from delivery_log where webhook_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
   order by created_at desc, id desc limit $4`,
)
const SELECT_OLDEST_FIRST = sql<LogRow, Place>(
  `select ${LOG_COLUMNS} from delivery_log where webhook_id = $1 and ($2::timestamptz is null or (created_at, id) > ($2, $3))
   order by created_at, id limit $4`,
)

/** A keyset page of the deliveries of one webhook, by creation. */
export function listLog(on: Queryable, webhookId: string, { ascending, after, take }: KeysetPage): Promise<LogRow[]> {
  const statement = ascending ? SELECT_OLDEST_FIRST : SELECT_NEWEST_FIRST
  return on.query(statement, webhookId, after?.time.toISOString() ?? null, after?.id ?? null, take)
}

/** Of what is old, a batch; what is retried is newer than that. */
export const SWEEP_OLD = sql<{ one: number }, [rows: number]>(
  `delete from delivery_log where ctid = any(array(select ctid from delivery_log
     where created_at < now() - interval '${LIMITS.retention.deliveryLog / 1_000} seconds' limit $1))
   returning 1 as one`,
)
export const SELECT_ENDED = sql<{ id: string }>('select id from ended_webhooks limit 100')
export const SWEEP_ENDED = sql<{ one: number }, [webhookId: string, rows: number]>(
  `delete from delivery_log where id = any(array(select id from delivery_log where webhook_id = $1 limit $2))
   returning 1 as one`,
)
export const FORGET_ENDED = sql<unknown, [webhookId: string]>('delete from ended_webhooks where id = $1')
