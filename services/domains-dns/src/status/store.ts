import { sql, type Tx } from '@restante/service/database'
import { type DomainRow, lockByUid } from '../registrations/store.ts'

export function lockForSettling(tx: Tx, uid: string): Promise<DomainRow | undefined> {
  return lockByUid(tx, uid)
}

export const UPDATE = sql<
  never,
  [
    uid: string,
    inbound: boolean,
    subdomains: boolean,
    feedback: boolean,
    tracking: boolean,
    records: string,
    scheduledFrom: string,
    now: string,
  ]
>(
  `update domains set inbound_enabled = $2, subdomains_enabled = $3, feedback_enabled = $4, tracking_enabled = $5,
     records = $6::jsonb, scheduled_from = $7, updated_at = $8, version = version + 1 where uid = $1`,
)
