import type { QueueFilter } from '@restante/contracts/internal'
import { type Queryable, sql, sqlUnprepared, type Tx } from '@restante/service/database'
import { DELIVERY_KINDS } from '../../timers/kinds.ts'
import { HELD_UNTIL, holds } from '../attempts/holds.ts'
import { SEND_COLUMNS, type SendRow } from '../outbound/sends.ts'

/** The kinds of timers that attempt deliveries. */
const KINDS = `(${DELIVERY_KINDS.map((kind) => `'${kind}'`).join(', ')})`
const HELD = `timestamptz '${HELD_UNTIL.toISOString()}'`
const IS_OPEN = "d.state in ('queued', 'handing_over', 'deferred')"
const HAS_HOLD = `exists (select from delivery_holds h where ${holds('s.organization_id', 'd.destination')})`
const TIMER_OF = `t.kind in ${KINDS} and t.key = s.id || '/' || d.destination`
const IS_IDLE = '(t.leased_until is null or t.leased_until <= now())'

type Filter = [destination: string | null, organizationId: string | null, queuedBefore: string | null]

/** The deliveries `d` of messages `s` that match the first three values. */
const MATCHES = `($1::text is null or d.destination = $1) and ($2::uuid is null or s.organization_id = $2)
   and ($3::timestamptz is null or d.queued_at < $3)`

export interface WaitingRow {
  readonly destination: string
  readonly waiting: number
  readonly running: number
  readonly held: number
  readonly oldest: Date
  readonly next: Date | null
  readonly status: string | null
}

// The filters leave little or nearly everything: each needs a plan of its own.
const LIST = sqlUnprepared<WaitingRow, [...Filter, limit: number]>(`
select d.destination, count(*)::int as waiting, (count(*) filter (where d.state = 'handing_over'))::int as running,
       (count(*) filter (where ${HAS_HOLD}))::int as held,
       min(d.queued_at) as oldest, min(t.due_at) filter (where t.due_at < ${HELD}) as next,
       (array_agg(d.status order by d.updated_at desc) filter (where d.status is not null))[1] as status
  from deliveries d join sends s on s.id = d.send_id left join timers t on ${TIMER_OF}
 where ${IS_OPEN} and ${MATCHES}
 group by d.destination
 order by waiting desc, d.destination
 limit $4`)

export interface QueuedRow {
  readonly id: string
  readonly message_id: string
  readonly organization_id: string | null
  readonly inbox_uid: string | null
  readonly recipient: string
  readonly destination: string
  readonly state: string
  readonly attempts: number
  readonly status: string | null
  readonly diagnostic: string | null
  readonly remote: string | null
  readonly held: boolean
  readonly queued_at: Date
  readonly updated_at: Date
  readonly next: Date | null
}

const QUEUED = `
select d.id, s.message_id, s.organization_id, s.inbox_uid, d.recipient, d.destination, d.state, d.attempts, d.status,
       d.diagnostic, d.reporting_mta as remote, ${IS_OPEN} and ${HAS_HOLD} as held, d.queued_at, d.updated_at,
       case when ${IS_OPEN} and t.due_at < ${HELD} then t.due_at end as next
  from deliveries d join sends s on s.id = d.send_id left join timers t on ${TIMER_OF}`

const BY_ID = sql<QueuedRow, [id: string]>(`${QUEUED} where d.id = $1`)
const BY_MESSAGE = sql<QueuedRow, [messageId: string]>(`${QUEUED} where s.message_id = $1 order by d.id limit 1000`)

// A timer with a lease is due and queued already, or its attempt is running.
const RETRY = sqlUnprepared<{ id: string }, [...Filter, rows: number]>(`
update timers set due_at = date_trunc('milliseconds', now())
 where id in (
   select t.id
     from timers t join sends s on s.id = (t.payload ->> 'send_id')::uuid
    where t.kind in ${KINDS} and t.due_at > now() and t.due_at < ${HELD} and ${IS_IDLE}
      and ($1::text is null or t.payload ->> 'destination' = $1) and ($2::uuid is null or s.organization_id = $2)
      and ($3::timestamptz is null or s.accepted_at < $3)
    limit $4
      for update of t skip locked)
returning id`)

export type IdleRow = SendRow & {
  delivery_id: string
  recipient: string
  destination: string
  attempts: number
  delayed: boolean
  inside: boolean
}

const IDLE_COLUMNS = `${SEND_COLUMNS}, d.id as delivery_id, d.recipient, d.destination, d.attempts,
       d.delayed_at is not null as delayed, d.inside`

// The rows stay locked. An attempt that is connecting has begun none of them, and finds that it may not any more; one
// that has begun a delivery will record its outcome.
const TAKE_IDLE = sqlUnprepared<IdleRow, [...Filter, rows: number]>(`
select ${IDLE_COLUMNS}
  from deliveries d join sends s on s.id = d.send_id
 where d.state in ('queued', 'deferred') and ${MATCHES}
 order by d.id
 limit $4
   for update of d skip locked`)

// Begun by a process that has died. No attempt can get the timer while it is locked here.
const TAKE_LEFT = sqlUnprepared<IdleRow, [...Filter, rows: number]>(`
select ${IDLE_COLUMNS}
  from deliveries d join sends s on s.id = d.send_id join timers t on ${TIMER_OF}
 where d.state = 'handing_over' and ${IS_IDLE} and ${MATCHES}
 order by d.id
 limit $4
   for update of d, t skip locked`)

const TAKE_OF_SENDS = sql<IdleRow, [sendIds: readonly string[]]>(`
select ${IDLE_COLUMNS}
  from deliveries d join sends s on s.id = d.send_id
 where s.id = any($1::uuid[]) and ${IS_OPEN}
 order by d.id
   for update of d`)

const FINISHED = sql<{ key: string }, [sendIds: readonly string[], destinations: readonly string[]]>(`
select target.send_id || '/' || target.destination as key
  from unnest($1::uuid[], $2::text[]) as target (send_id, destination)
 where not exists (select from deliveries d
                    where d.send_id = target.send_id and d.destination = target.destination and ${IS_OPEN})`)

type Scope = [organizationId: string | null, destination: string | null]

const HOLD = sql<{ id: string }, [...Scope, operator: string]>(`
insert into delivery_holds (id, organization_id, destination, operator)
select gen_random_uuid(), $1::uuid, $2::text, $3
 where not exists (select from delivery_holds
                    where organization_id is not distinct from $1::uuid and destination is not distinct from $2::text)
returning id`)
const RELEASE = sql<{ id: string }, Scope>(`
delete from delivery_holds
 where organization_id is not distinct from $1::uuid and destination is not distinct from $2::text
returning id`)
// What another hold keeps back as well stays where it is.
const RESUME = sqlUnprepared<{ id: string }, Scope>(`
update timers t set due_at = date_trunc('milliseconds', now())
  from sends s
 where t.kind in ${KINDS} and t.due_at = ${HELD} and s.id = (t.payload ->> 'send_id')::uuid
   and ($1::uuid is null or s.organization_id = $1) and ($2::text is null or t.payload ->> 'destination' = $2)
   and not exists (select from delivery_holds h where ${holds('s.organization_id', "t.payload ->> 'destination'")})
returning t.id`)

export interface HoldRow {
  readonly organization_id: string | null
  readonly destination: string | null
  readonly operator: string
  readonly created_at: Date
}

const LIST_HOLDS = sql<HoldRow>(
  'select organization_id, destination, operator, created_at from delivery_holds order by created_at, id',
)

function valuesOf({ destination, organization_id, queued_before }: QueueFilter): Filter {
  return [destination ?? null, organization_id ?? null, queued_before ?? null]
}

/** Waiting deliveries by destination, most first. */
export function listWaiting(on: Queryable, filter: QueueFilter, limit: number): Promise<WaitingRow[]> {
  return on.query(LIST, ...valuesOf(filter), limit)
}

export function findById(on: Queryable, id: string): Promise<QueuedRow[]> {
  return on.query(BY_ID, id)
}

export function findByMessage(on: Queryable, messageId: string): Promise<QueuedRow[]> {
  return on.query(BY_MESSAGE, messageId)
}

/** Makes attempts due now that wait for their time. @returns how many. */
export async function retryWaiting(on: Queryable, filter: QueueFilter, rows: number): Promise<number> {
  return (await on.query(RETRY, ...valuesOf(filter), rows)).length
}

/** Locks deliveries that no attempt is handing over. */
export async function takeIdle(tx: Tx, filter: QueueFilter, rows: number): Promise<IdleRow[]> {
  const idle = await tx.query(TAKE_IDLE, ...valuesOf(filter), rows)
  if (idle.length === rows) return idle
  return [...idle, ...(await tx.query(TAKE_LEFT, ...valuesOf(filter), rows - idle.length))]
}

/** Locks the deliveries of messages that are not finished, whatever an attempt is doing with them. */
export function takeOfSends(tx: Tx, sendIds: readonly string[]): Promise<IdleRow[]> {
  return tx.query(TAKE_OF_SENDS, sendIds)
}

/** The keys of timers whose deliveries are all finished. */
export async function keysFinished(
  on: Queryable,
  targets: readonly { readonly sendId: string; readonly destination: string }[],
): Promise<string[]> {
  const sendIds = targets.map(({ sendId }) => sendId)
  const destinations = targets.map(({ destination }) => destination)
  return (await on.query(FINISHED, sendIds, destinations)).map(({ key }) => key)
}

/** @returns whether there was no such hold yet. */
export async function addHold(
  on: Queryable,
  organizationId: string | null,
  destination: string | null,
  operator: string,
): Promise<boolean> {
  return (await on.query(HOLD, organizationId, destination, operator)).length > 0
}

/** Ends a hold, and makes due what only it kept back. @returns whether there was one. */
export async function endHold(tx: Tx, organizationId: string | null, destination: string | null): Promise<boolean> {
  const ended = (await tx.query(RELEASE, organizationId, destination)).length > 0
  // A statement of its own: it sees what attempts have postponed while the deletion waited for them.
  if (ended) await tx.query(RESUME, organizationId, destination)
  return ended
}

export function listHolds(on: Queryable): Promise<HoldRow[]> {
  return on.query(LIST_HOLDS)
}
