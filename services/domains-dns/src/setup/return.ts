import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import type { Installation } from '../records/installation.ts'
import { domainDocument } from '../registrations/document.ts'
import { type DomainRow, findByUid, publicKeyOf } from '../registrations/store.ts'
import { takeSetup } from './store.ts'

type SetupResult = InternalResponseOf<'domains-dns.completeSetup'>

/** A check of the records of a domain, as a request to verify asks for it. */
export interface Verification {
  /** Queues a run in the transaction. */
  request(tx: Tx, row: DomainRow): Promise<void>
  /** Resolves when that run has ended, or after a few seconds. */
  ended(row: DomainRow): Promise<void>
}

export interface ReturnOptions {
  readonly db: Database
  readonly installation: Installation
  readonly verification: Verification
}

/**
 * Ends the setup of a browser that comes back from the DNS provider (domains 9). What it brings proves nothing, a failure
 * included: a check of the records decides, and is queued in the transaction that ends the state. A crash before its commit
 * leaves the state, and one after it only the answer is lost.
 */
export async function completeSetup(options: ReturnOptions, state: string, log: Logger): Promise<SetupResult> {
  const { db, installation, verification } = options
  const ended = await db.transaction(async (tx) => {
    const setup = await takeSetup(tx, state)
    if (setup === undefined) return undefined
    const row = await findByUid(tx, setup.domain_uid)
    if (row !== undefined) await verification.request(tx, row)
    return { setup, row }
  })
  if (ended === undefined) return { outcome: 'unknown' }
  const { setup, row } = ended
  log.info({ ...setup, deleted: row === undefined }, 'setup of a domain returned from its DNS provider')
  if (row === undefined) return { outcome: 'deleted' }
  await verification.ended(row)
  return found(db, row.uid, installation)
}

async function found(db: Database, uid: string, installation: Installation): Promise<SetupResult> {
  const row = await findByUid(db, uid)
  if (row === undefined) return { outcome: 'deleted' }
  const { domain, status, records } = domainDocument(row, await publicKeyOf(db, uid), installation)
  return {
    outcome: 'returned',
    domain,
    verified: status === 'VERIFIED',
    records: records.map(({ type, name, status: found }) => ({ type, name, status: found })),
  }
}
