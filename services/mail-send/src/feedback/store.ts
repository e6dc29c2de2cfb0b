import { normalizeAddress } from '@restante/mime'
import { type Queryable, sql } from '@restante/service/database'
import { SEND_COLUMNS, type SendRecord, type SendRow, sendOf } from '../delivery/outbound/sends.ts'
import type { DeliveryState } from '../delivery/outcome/delivery.ts'

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

/** A delivery to another server, and the inbox that sent its message. */
export interface FoundDelivery {
  readonly delivery_id: string
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
}

const FOUND_COLUMNS = 'd.id as delivery_id, s.organization_id, s.pod_id, s.inbox_uid'
const IS_OUTSIDE = 'not d.inside and s.organization_id is not null and s.pod_id is not null and s.inbox_uid is not null'

const BY_ID = sql<FoundDelivery, [deliveryId: string]>(`
select ${FOUND_COLUMNS}
  from deliveries d join sends s on s.id = d.send_id
 where d.id = $1 and ${IS_OUTSIDE}`)

const BY_MESSAGE = sql<FoundDelivery & { recipient: string }, [messageId: string]>(`
select ${FOUND_COLUMNS}, d.recipient
  from sends s join deliveries d on d.send_id = s.id
 where s.message_id = $1 and ${IS_OUTSIDE}
 order by d.id`)

/** The delivery of this id, if it was to another server. */
export function findDelivery(on: Queryable, deliveryId: string): Promise<FoundDelivery[]> {
  return on.query(BY_ID, deliveryId)
}

/** The deliveries of a message to these recipients, at other servers. @param messageId with its angle brackets */
export async function findDeliveriesOf(
  on: Queryable,
  messageId: string,
  recipients: readonly string[],
): Promise<FoundDelivery[]> {
  const found = await on.query(BY_MESSAGE, messageId)
  const wanted = new Set(recipients.map(normalizeAddress))
  return found.flatMap(({ recipient, ...delivery }) => (wanted.has(normalizeAddress(recipient)) ? [delivery] : []))
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
