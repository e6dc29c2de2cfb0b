import type { Schedule } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import type { Certificates } from '../certificates/open-certificates.ts'
import { type CheckTimers, cancelChecks } from '../checks/timers.ts'
import { publishDeletion } from '../registrations/events.ts'
import { rememberProof } from '../registrations/proofs.ts'
import { type DomainRow, deleteDomain } from '../registrations/store.ts'

export interface RemovalOptions {
  readonly outbox: Outbox
  readonly timers: Schedule<CheckTimers>
  readonly certificates: Pick<Certificates, 'drop'>
}

/**
 * Deletes a registration that the transaction has locked, with its key, its certificate and its pending checks. Its name
 * stays with the organization for a time if it was verified lately (domains 8).
 */
export async function removeDomain(
  tx: Tx,
  { outbox, timers, certificates }: RemovalOptions,
  row: DomainRow,
): Promise<void> {
  const now = new Date()
  await rememberProof(tx, row, now)
  await cancelChecks(tx, timers, row.uid)
  await certificates.drop(tx, row.uid)
  await deleteDomain(tx, row.uid)
  await publishDeletion(tx, outbox, row, now)
}
