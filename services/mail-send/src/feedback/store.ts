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
