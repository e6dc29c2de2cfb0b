import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Schedule } from '@restante/jobs'
import { pause } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { type CheckTimers, scheduleCheck } from '../checks/timers.ts'
import { domainDocument } from '../registrations/document.ts'
import { type DomainRow, findByUid, publicKeyOf } from '../registrations/store.ts'
import { type SettleOptions, settle } from '../status/settle.ts'
import { isHeldElsewhere, lockForSettling } from '../status/store.ts'
import { takeSetup } from './store.ts'

type SetupResult = InternalResponseOf<'domains-dns.completeSetup'>

export interface ReturnOptions extends SettleOptions {
  readonly db: Database
  readonly timers: Schedule<CheckTimers>
}

export interface Returned {
  readonly state: string
  readonly log: Logger
  /** Ends the wait for the check. */
  readonly signal: AbortSignal
}

/** How long a person waits for the result of the check, and how often it is looked for. */
const WAIT_MS = 3_000
const POLL_MS = 100

/**
 * Ends the setup of a browser that comes back from the DNS provider (domains 9). What it brings proves nothing, a failure
 * included: a check of the records decides, and is queued in the transaction that ends the state. A crash before its commit
 * leaves the state, and one after it only the answer is lost.
 */
export async function completeSetup(options: ReturnOptions, { state, log, signal }: Returned): Promise<SetupResult> {
  const { db } = options
  const ended = await db.transaction(async (tx) => {
    const setup = await takeSetup(tx, state)
    if (setup === undefined) return undefined
    return { setup, row: await requestCheck(tx, options, setup.domain_uid) }
  })
  if (ended === undefined) return { outcome: 'unknown' }
  const { setup, row } = ended
  log.info({ ...setup, deleted: row === undefined }, 'setup of a domain returned from its DNS provider')
  const checked = row && (await checkedWithin(db, row, signal))
  return checked === undefined ? { outcome: 'deleted' } : resultOf(options, checked)
}

/**
 * Queues a check of a registration, and starts its schedule anew, as a request to verify does. The name of another
 * organization is not checked.
 * @returns the registration before the check; undefined when it is deleted.
 */
async function requestCheck(tx: Tx, options: ReturnOptions, uid: string): Promise<DomainRow | undefined> {
  const row = await lockForSettling(tx, uid)
  const now = new Date()
  if (row === undefined || (await isHeldElsewhere(tx, row, now))) return row
  await scheduleCheck(tx, options.timers, uid)
  return settle(tx, options, row, { scheduled_from: now }, now)
}

/** The registration after its check, or as it is when the wait is over; undefined when it is deleted. */
async function checkedWithin(db: Database, { uid, checks }: DomainRow, signal: AbortSignal) {
  for (const end = performance.now() + WAIT_MS; ; await pause(POLL_MS, signal)) {
    const row = await findByUid(db, uid)
    if (row === undefined || row.checks > checks || performance.now() > end || signal.aborted) return row
  }
}

async function resultOf({ db, installation }: ReturnOptions, row: DomainRow): Promise<SetupResult> {
  const { domain, status, records } = domainDocument(row, await publicKeyOf(db, row.uid), installation)
  return {
    outcome: 'returned',
    domain,
    verified: status === 'VERIFIED',
    records: records.map(({ type, name, status: found }) => ({ type, name, status: found })),
  }
}
