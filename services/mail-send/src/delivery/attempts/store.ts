import { type Queryable, sql } from '@restante/service/database'
import { SEND_COLUMNS, type SendRecord, type SendRow, sendOf } from '../outbound/sends.ts'
import type { BegunDelivery, Decision, DeliveryState, OpenDelivery } from '../outcome/delivery.ts'
import { holds } from './holds.ts'

type OpenRow = SendRow & {
  delivery_id: string
  recipient: string
  state: DeliveryState
  attempts: number
  delayed: boolean
  held: boolean
}

const OPEN = sql<OpenRow, [sendId: string, destination: string]>(`
select ${SEND_COLUMNS},
       d.id as delivery_id, d.recipient, d.state, d.attempts, d.delayed_at is not null as delayed,
       exists (select from delivery_holds h where ${holds('s.organization_id', 'd.destination')}) as held
  from sends s join deliveries d on d.send_id = s.id
 where s.id = $1 and d.destination = $2 and d.state in ('queued', 'handing_over', 'deferred')
 order by d.id`)

const BEGIN = sql<{ id: string }, [ids: readonly string[], attempts: readonly number[]]>(`
update deliveries
   set state = 'handing_over', attempts = deliveries.attempts + 1, updated_at = now()
  from unnest($1::uuid[], $2::int[]) as begun (id, attempts)
 where deliveries.id = begun.id and deliveries.attempts = begun.attempts
   and deliveries.state in ('queued', 'handing_over', 'deferred')
returning deliveries.id`)

const SAVE_DECISION = sql<
  { id: string },
  [
    id: string,
    attempts: number,
    state: string,
    status: string,
    diagnostic: string,
    mta: string | null,
    acceptedBy: string | null,
    announceDelay: boolean,
  ]
>(`
update deliveries
   set state = $3, status = $4, diagnostic = $5, reporting_mta = $6, accepted_by = $7,
       delayed_at = case when $8 then now() else delayed_at end, updated_at = now()
 where id = $1 and attempts = $2 and state = 'handing_over'
returning id`)

/** What there is to do for one message at one destination. */
export interface OpenTarget {
  readonly send: SendRecord
  readonly deliveries: OpenDelivery[]
  /** Whether the operator keeps them back. */
  readonly held: boolean
}

/** The message and those of its deliveries to one destination that are still open; undefined when none is. */
export async function findOpen(on: Queryable, sendId: string, destination: string): Promise<OpenTarget | undefined> {
  const rows = await on.query(OPEN, sendId, destination)
  const [first] = rows
  if (!first) return undefined
  const deliveries = rows.map(({ delivery_id: id, recipient, state, attempts, delayed }) => ({
    id,
    recipient,
    state,
    attempts,
    delayed,
  }))
  return { send: sendOf(first), deliveries, held: first.held }
}

/**
 * Marks deliveries as being handed over, before any server is contacted, and counts the attempt.
 * @returns those that this attempt may make; another attempt may have taken some of them.
 */
export async function begin(on: Queryable, deliveries: readonly OpenDelivery[]): Promise<BegunDelivery[]> {
  const ids = deliveries.map(({ id }) => id)
  const attempts = deliveries.map((delivery) => delivery.attempts)
  const begun = new Set((await on.query(BEGIN, ids, attempts)).map(({ id }) => id))
  return deliveries
    .filter(({ id }) => begun.has(id))
    .map(({ id, recipient, delayed, attempts: before }) => ({ id, recipient, delayed, attempts: before + 1 }))
}

/** @returns whether this attempt was still the delivery's own. */
export async function saveDecision(on: Queryable, delivery: BegunDelivery, decision: Decision): Promise<boolean> {
  const { status, text, mta = null, address = null } = decision.verdict
  const acceptedBy = decision.state === 'delivered' ? address : null
  const announceDelay = decision.state === 'deferred' && decision.announceDelay
  const { id, attempts } = delivery
  const saved = await on.query(
    SAVE_DECISION,
    id,
    attempts,
    decision.state,
    status,
    text,
    mta,
    acceptedBy,
    announceDelay,
  )
  return saved.length > 0
}
