import { type Queryable, sql } from '@restante/service/database'
import { SEND_COLUMNS, type SendRecord, type SendRow, sendOf } from '../delivery/outbound/sends.ts'

/** A delivery that has failed for good. */
export interface FailedDelivery {
  readonly send: SendRecord
  readonly recipient: string
  readonly status: string
  readonly diagnostic: string
  readonly remoteMta: string | undefined
  readonly attemptedAt: Date
}

const FAILED = sql<
  SendRow & {
    recipient: string
    status: string | null
    diagnostic: string | null
    reporting_mta: string | null
    updated_at: Date
  },
  [deliveryId: string]
>(`
select ${SEND_COLUMNS}, d.recipient, d.status, d.diagnostic, d.reporting_mta, d.updated_at
  from deliveries d join sends s on s.id = d.send_id
 where d.id = $1 and d.state = 'bounced'`)

/** The delivery, unless it was deleted. */
export async function findFailed(on: Queryable, deliveryId: string): Promise<FailedDelivery | undefined> {
  const [row] = await on.query(FAILED, deliveryId)
  if (!row) return undefined
  const { recipient, status, diagnostic, reporting_mta, updated_at: attemptedAt } = row
  return {
    send: sendOf(row),
    recipient,
    status: status ?? '5.0.0',
    diagnostic: diagnostic ?? '',
    remoteMta: reporting_mta ?? undefined,
    attemptedAt,
  }
}
