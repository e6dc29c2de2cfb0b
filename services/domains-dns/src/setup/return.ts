import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Schedule } from '@restante/jobs'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { awaitCheck, type RequestedCheck, requestCheck } from '../checks/request.ts'
import type { CheckTimers } from '../checks/timers.ts'
import type { Installation } from '../records/installation.ts'
import { domainDocument } from '../registrations/document.ts'
import { type DomainRow, findByUid, publishedKeyOf } from '../registrations/store.ts'
import { isHeldElsewhere, lockForChange } from '../status/store.ts'
import { takeSetup } from './store.ts'

type SetupResult = InternalResponseOf<'domains-dns.completeSetup'>

export interface ReturnOptions {
  readonly db: Database
  readonly timers: Schedule<CheckTimers>
  readonly installation: Installation
}

/**
 * Ends the setup of a browser that comes back from the DNS provider (domains 9). What it brings proves nothing, a failure
 * included: a check of the records decides, and is requested in the transaction that ends the state. A crash before its
 * commit leaves the state, and one after it only the answer is lost.
 */
export async function completeSetup(options: ReturnOptions, state: string, log: Logger): Promise<SetupResult> {
  const { db } = options
  const ended = await db.transaction(async (tx) => {
    const setup = await takeSetup(tx, state)
    return setup && { setup, check: await check(tx, options, setup.domain_uid) }
  })
  if (ended === undefined) return { outcome: 'unknown' }
  const { setup, check: requested } = ended
  log.info({ ...setup }, 'setup of a domain returned from its DNS provider')
  if (requested !== undefined) await awaitCheck(db, requested)
  const row = await findByUid(db, setup.domain_uid)
  return row === undefined ? { outcome: 'deleted' } : resultOf(options, row)
}

/**
 * Requests a check of a registration, as its owner could.
 * @returns undefined when it is deleted, or its name has been proven by another organization.
 */
async function check(tx: Tx, { timers }: ReturnOptions, uid: string): Promise<RequestedCheck | undefined> {
  const row = await lockForChange(tx, uid)
  const now = new Date()
  if (row === undefined || (await isHeldElsewhere(tx, row, now))) return undefined
  return requestCheck(tx, timers, row, now)
}

async function resultOf({ db, installation }: ReturnOptions, row: DomainRow): Promise<SetupResult> {
  const { domain, status, records } = domainDocument(row, await publishedKeyOf(db, row.uid), installation)
  return {
    outcome: 'returned',
    domain,
    verified: status === 'VERIFIED',
    records: records.map(({ type, name, status: found }) => ({ type, name, status: found })),
  }
}
