import type { Schedule } from '@restante/jobs'
import type { Database, Queryable } from '@restante/service/database'
import { sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { DomainTimers } from '../timers/kinds.ts'
import type { AccountStore } from './authority/account-store.ts'
import { observeCertificates } from './metrics.ts'
import { WEEK } from './rules/schedule.ts'
import type { CertificateStore } from './state/certificates.ts'
import { findUncertified, KEEPING } from './state/registrations.ts'

export interface SweeperOptions {
  readonly db: Database
  readonly log: Logger
  readonly timers: Schedule<DomainTimers>
  readonly certificates: CertificateStore
  readonly accounts: AccountStore
}

const EVERY_MS = 60_000
/** Names per statement. */
const BATCH = 500

const DELETE_CHALLENGES = sql<unknown>('delete from certificate_challenges where expires_at <= now()')
const DELETE_ORDERS = sql<unknown>(
  `delete from certificate_orders where started_at < now() - interval '${WEEK + 24 * 60 * 60_000} milliseconds'`,
)
const UNNEEDED = sql<{ name: string }, [limit: number]>(
  `select name from tracking_certificates where not exists (
     select 1 from domains
     where domains.name = tracking_certificates.name and ${KEEPING})
   limit $1`,
)

/**
 * Finds hosts that need a certificate and were not noticed at a check, as all do when an authority is configured for the
 * first time, and unused certificates; removes what has expired; seals keys anew after a change of the
 * encryption key; reports the states.
 */
export class CertificateSweeper extends Periodic {
  constructor({ db, log, timers, certificates, accounts }: SweeperOptions) {
    super({
      name: 'certificate sweeper',
      everyMs: EVERY_MS,
      log,
      work: async (stopping) => {
        await db.query(DELETE_CHALLENGES)
        await db.query(DELETE_ORDERS)
        await scheduleMissing(db, timers, stopping)
        await scheduleUnneeded(db, timers)
        await db.transaction((tx) => certificates.sealAgain(tx, BATCH))
        await db.transaction((tx) => accounts.sealAgain(tx))
        await observeCertificates(db)
      },
    })
  }

  override async start(): Promise<void> {
    await super.start()
    this.notify()
  }
}

async function scheduleMissing(db: Database, timers: Schedule<DomainTimers>, stopping: AbortSignal): Promise<void> {
  for (let after = ''; !stopping.aborted; ) {
    const names = await findUncertified(db, after, BATCH)
    await db.transaction(async (tx) => {
      for (const key of names) await timers.scheduleIfMissing(tx, { kind: 'certificate', key, payload: {} })
    })
    const last = names.at(-1)
    if (last === undefined || names.length < BATCH) return
    after = last
  }
}

async function scheduleUnneeded(db: Queryable & Pick<Database, 'transaction'>, timers: Schedule<DomainTimers>) {
  const names = await db.query(UNNEEDED, BATCH)
  if (names.length === 0) return
  await db.transaction((tx) =>
    timers.scheduleAll(
      tx,
      names.map(({ name: key }) => ({ kind: 'certificate', key, payload: {} })),
    ),
  )
}
