import { type Queryable, sql } from '@restante/service/database'
import type { DeliveryTarget } from '../../timers/kinds.ts'
import { SEND_COLUMNS, type SendRecord, type SendRow, sendOf } from '../outbound/sends.ts'
import type { BegunDelivery, Decided, DeliveryState, OpenDelivery } from '../outcome/delivery.ts'
import { holds } from './holds.ts'

type OpenRow = SendRow & {
  delivery_id: string
  recipient: string
  state: DeliveryState
  attempts: number
  delayed: boolean
  inside: boolean
  held: boolean
}

// Few deliveries are of one send, and any number may wait for one destination, where the planner would begin (decision 110). As
// the state is compared outside, no index of what waits can be used.
const OPEN = sql<OpenRow & { destination: string }, [sendIds: readonly string[], destinations: readonly string[]]>(`
select ${SEND_COLUMNS},
       d.destination, d.id as delivery_id, d.recipient, d.state, d.attempts, d.delayed_at is not null as delayed, d.inside,
       exists (select from delivery_holds h where ${holds('s.organization_id', 'd.destination')}) as held
  from (select distinct * from unnest($1::uuid[], $2::text[])) as target (send_id, destination)
  join sends s on s.id = target.send_id
  cross join lateral (
    select * from deliveries where send_id = s.id and destination = target.destination offset 0
  ) as d
 where s.id = any($1::uuid[]) and d.state in ('queued', 'handing_over', 'deferred')
 order by d.id`)

// Rows are locked in one order, so that two statements with the same deliveries never wait for each other in a circle.
const BEGIN = sql<{ id: string; attempts: number }, [ids: readonly string[], attempts: readonly number[]]>(`
with locked as materialized (
  select id, attempts, state from deliveries where id = any($1::uuid[]) order by id for update
)
update deliveries
   set state = 'handing_over', attempts = deliveries.attempts + 1, updated_at = now()
  from locked join unnest($1::uuid[], $2::int[]) as begun (id, attempts) using (id, attempts)
 where deliveries.id = any(array[locked.id]) and locked.state in ('queued', 'handing_over', 'deferred')
returning deliveries.id, deliveries.attempts`)

const SAVE_DECISIONS = sql<
  { id: string; attempts: number },
  [
    ids: readonly string[],
    attempts: readonly number[],
    states: readonly string[],
    statuses: readonly string[],
    diagnostics: readonly string[],
    mtas: readonly (string | null)[],
    acceptedBy: readonly (string | null)[],
    announceDelay: readonly boolean[],
  ]
>(`
with locked as materialized (
  select id, attempts, state from deliveries where id = any($1::uuid[]) order by id for update
)
update deliveries
   set state = decided.state, status = decided.status, diagnostic = decided.diagnostic, reporting_mta = decided.mta,
       accepted_by = decided.accepted_by, delayed_at = case when announce_delay then now() else delayed_at end,
       updated_at = now()
  from locked
       join unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[])
            as decided (id, attempts, state, status, diagnostic, mta, accepted_by, announce_delay) using (id, attempts)
 where deliveries.id = any(array[locked.id]) and locked.state = 'handing_over'
returning deliveries.id, deliveries.attempts`)

/** What there is to do for one message at one destination. */
export interface OpenTarget {
  readonly send: SendRecord
  readonly deliveries: OpenDelivery[]
  /** Whether the operator keeps them back. */
  readonly held: boolean
}

/** The message and those of its deliveries to one destination that are still open; undefined when none is. */
export async function findOpen(on: Queryable, sendId: string, destination: string): Promise<OpenTarget | undefined> {
  return (await findAllOpen(on, [{ send_id: sendId, destination }]))[0]
}

/** The same for several targets, in their order. */
export async function findAllOpen(
  on: Queryable,
  targets: readonly DeliveryTarget[],
): Promise<(OpenTarget | undefined)[]> {
  const [ids, destinations] = [targets.map(({ send_id }) => send_id), targets.map(({ destination }) => destination)]
  const rows = Map.groupBy(await on.query(OPEN, ids, destinations), (row) => `${row.id} ${row.destination}`)
  return targets.map(({ send_id, destination }) => openTargetOf(rows.get(`${send_id} ${destination}`) ?? []))
}

function openTargetOf(rows: readonly OpenRow[]): OpenTarget | undefined {
  const [first] = rows
  if (!first) return undefined
  const deliveries = rows.map(({ delivery_id: id, recipient, state, attempts, delayed, inside }) => ({
    id,
    recipient,
    state,
    attempts,
    delayed,
    inside,
  }))
  return { send: sendOf(first), deliveries, held: first.held }
}

/**
 * Marks deliveries as being handed over, before any server is contacted, and counts the attempt.
 * @returns those that this attempt may make; another attempt may have taken some of them.
 */
export async function begin(on: Queryable, deliveries: readonly OpenDelivery[]): Promise<BegunDelivery[]> {
  return (await beginAll(on, deliveries)).filter((delivery) => delivery !== undefined)
}

/**
 * The same for deliveries of several attempts, in their order; undefined for those that are not to be tried. One delivery
 * may be there twice, once as an attempt knows it that has been overtaken: that one must not take it from the other.
 */
export async function beginAll(
  on: Queryable,
  deliveries: readonly OpenDelivery[],
): Promise<(BegunDelivery | undefined)[]> {
  const ids = deliveries.map(({ id }) => id)
  const attempts = deliveries.map((delivery) => delivery.attempts)
  const begun = new Set((await on.query(BEGIN, ids, attempts)).map(attemptKey))
  return deliveries.map(({ id, recipient, delayed, inside, attempts: before }) => {
    const delivery = { id, recipient, delayed, inside, attempts: before + 1 }
    // What two attempts begin at the same time is begun by the first.
    return begun.delete(attemptKey(delivery)) ? delivery : undefined
  })
}

/** Names one attempt at one delivery. */
function attemptKey({ id, attempts }: { readonly id: string; readonly attempts: number }): string {
  return `${id} ${attempts}`
}

/** @returns those whose attempt was still the delivery's own. */
export async function saveDecisions(on: Queryable, decided: readonly Decided[]): Promise<ReadonlySet<Decided>> {
  if (decided.length === 0) return new Set()
  const saved = await on.query(
    SAVE_DECISIONS,
    decided.map(({ delivery }) => delivery.id),
    decided.map(({ delivery }) => delivery.attempts),
    decided.map(({ decision }) => decision.state),
    decided.map(({ decision }) => decision.verdict.status),
    decided.map(({ decision }) => decision.verdict.text),
    decided.map(({ decision }) => decision.verdict.mta ?? null),
    decided.map(({ decision }) => (decision.state === 'delivered' ? (decision.verdict.address ?? null) : null)),
    decided.map(({ decision }) => decision.state === 'deferred' && decision.announceDelay),
  )
  const own = new Set(saved.map(attemptKey))
  return new Set(decided.filter(({ delivery }) => own.has(attemptKey(delivery))))
}
