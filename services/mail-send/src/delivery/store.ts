import { type Queryable, sql } from '@restante/service'
import type { BegunDelivery, DeliveryState, Settlement } from './delivery.ts'

/** The owner of the mail; the installation's own mail has none. */
export type Origin =
  | {
      readonly kind: 'inbox'
      readonly organizationId: string
      readonly podId: string
      readonly inboxUid: string
      readonly threadId: string
    }
  | { readonly kind: 'system' }

/** A message as far as its delivery needs it. */
export interface SendRecord {
  readonly id: string
  readonly origin: Origin
  readonly messageId: string
  readonly size: number
  readonly sha256: string
  readonly acceptedAt: Date
}

/** A delivery that is not finished yet. */
export interface OpenDelivery extends BegunDelivery {
  readonly state: DeliveryState
}

/** The name of the blob with the bytes of an outgoing message. */
export function outboundBlob(sendId: string): string {
  return `outbound/${sendId}`
}

interface SendRow {
  id: string
  organization_id: string | null
  pod_id: string | null
  inbox_uid: string | null
  thread_id: string | null
  message_id: string
  size: number
  sha256: string
  accepted_at: Date
}

type OpenRow = SendRow & {
  delivery_id: string
  recipient: string
  state: DeliveryState
  attempts: number
  delayed: boolean
}

const SEND_COLUMNS =
  's.id, s.organization_id, s.pod_id, s.inbox_uid, s.thread_id, s.message_id, s.size, s.sha256, s.accepted_at'

const OPEN = sql<OpenRow, [sendId: string, destination: string]>(`
select ${SEND_COLUMNS},
       d.id as delivery_id, d.recipient, d.state, d.attempts, d.delayed_at is not null as delayed
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

const SETTLE = sql<
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

const HAND_OVER = sql<{ recipients: string[] }, [sendId: string]>(`
update sends
   set handed_over_at = now()
 where id = $1 and handed_over_at is null
returning array(select recipient from deliveries where send_id = sends.id order by recipient) as recipients`)

const REJECT = sql<{ id: string }, [sendId: string]>(`
update sends
   set rejected_at = now()
 where id = $1 and handed_over_at is null and rejected_at is null
returning id`)

const OF_DELIVERY = sql<
  SendRow & {
    recipient: string
    state: DeliveryState
    complained: boolean
    inside: boolean
    accepted_by: string | null
    reporting_mta: string | null
  },
  [deliveryId: string]
>(`
select ${SEND_COLUMNS}, d.recipient, d.state, d.complained_at is not null as complained,
       d.inside, d.accepted_by, d.reporting_mta
  from deliveries d join sends s on s.id = d.send_id
 where d.id = $1
   for update of d`)

// Of several reports the one with the worst status is kept, whichever came first.
const REPORT_BOUNCE = sql<never, [id: string, status: string, diagnostic: string]>(`
update deliveries
   set state = 'bounced', status = $2, diagnostic = $3, updated_at = now()
 where id = $1 and (state <> 'bounced' or (status, diagnostic) < ($2, $3))`)

const REPORT_COMPLAINT = sql<{ id: string }, [id: string]>(
  'update deliveries set complained_at = now(), updated_at = now() where id = $1 and complained_at is null returning id',
)

/** The message and those of its deliveries to one destination that are still open; undefined when none is. */
export async function findOpen(
  on: Queryable,
  sendId: string,
  destination: string,
): Promise<{ send: SendRecord; deliveries: OpenDelivery[] } | undefined> {
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
  return { send: sendOf(first), deliveries }
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
export async function saveSettlement(on: Queryable, delivery: BegunDelivery, settlement: Settlement): Promise<boolean> {
  const { status, text, mta = null, address = null } = settlement.verdict
  const acceptedBy = settlement.state === 'delivered' ? address : null
  const announceDelay = settlement.state === 'deferred' && settlement.announceDelay
  const { id, attempts } = delivery
  const saved = await on.query(SETTLE, id, attempts, settlement.state, status, text, mta, acceptedBy, announceDelay)
  return saved.length > 0
}

/** Marks that the message was sent. @returns all its recipients the first time, undefined afterwards. */
export async function markHandedOver(on: Queryable, sendId: string): Promise<string[] | undefined> {
  const [first] = await on.query(HAND_OVER, sendId)
  return first?.recipients
}

/** Marks that the message will never be sent. @returns false when it was sent, or is marked already. */
export async function markRejected(on: Queryable, sendId: string): Promise<boolean> {
  return (await on.query(REJECT, sendId)).length > 0
}

export interface ReportedDelivery {
  readonly id: string
  readonly send: SendRecord
  readonly recipient: string
  readonly state: DeliveryState
  readonly complained: boolean
  /** Handed over to an inbox here. */
  readonly inside: boolean
  /** The server that accepted it, as far as known. */
  readonly acceptedBy: { readonly host: string | undefined; readonly address: string | undefined }
}

/** The delivery that a report is about, locked until the transaction ends. */
export async function findReported(on: Queryable, deliveryId: string): Promise<ReportedDelivery | undefined> {
  const [row] = await on.query(OF_DELIVERY, deliveryId)
  if (!row) return undefined
  const { recipient, state, complained, inside } = row
  const acceptedBy = { host: row.reporting_mta ?? undefined, address: row.accepted_by ?? undefined }
  return { id: deliveryId, send: sendOf(row), recipient, state, complained, inside, acceptedBy }
}

export async function saveReportedBounce(
  on: Queryable,
  deliveryId: string,
  report: { readonly status?: string | undefined; readonly diagnostic?: string | undefined },
): Promise<void> {
  await on.query(REPORT_BOUNCE, deliveryId, report.status ?? '5.0.0', report.diagnostic ?? '')
}

/** @returns whether this was the first complaint. */
export async function saveComplaint(on: Queryable, deliveryId: string): Promise<boolean> {
  return (await on.query(REPORT_COMPLAINT, deliveryId)).length > 0
}

function sendOf(row: SendRow): SendRecord {
  const { id, message_id: messageId, size, sha256, accepted_at: acceptedAt } = row
  return { id, origin: originOf(row), messageId, size, sha256, acceptedAt }
}

function originOf(row: SendRow): Origin {
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, thread_id: threadId } = row
  if (organizationId === null || podId === null || inboxUid === null || threadId === null) return { kind: 'system' }
  return { kind: 'inbox', organizationId, podId, inboxUid, threadId }
}
