import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import type { Installation } from '../records/installation.ts'
import { publishState } from '../registrations/events.ts'
import { type DomainRow, findByUid } from '../registrations/store.ts'
import { UPDATE } from './store.ts'

export async function settle(
  tx: Tx,
  { outbox, installation }: { readonly outbox: Outbox; readonly installation: Installation },
  row: DomainRow,
  changes: Partial<DomainRow>,
  now: Date,
): Promise<DomainRow> {
  const after = { ...row, ...changes }
  await tx.query(
    UPDATE,
    row.uid,
    after.inbound_enabled,
    after.subdomains_enabled,
    after.feedback_enabled,
    after.tracking_enabled,
    JSON.stringify(after.records),
    after.scheduled_from.toISOString(),
    now.toISOString(),
  )
  const updated = await findByUid(tx, row.uid)
  if (!updated) throw new Error('the domain is gone')
  await publishState(tx, outbox, updated, installation)
  return updated
}
