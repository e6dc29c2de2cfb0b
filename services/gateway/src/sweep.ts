import { LIMITS } from '@restante/contracts'
import { sql } from '@restante/service'
import type { Actor } from './audit/actor.ts'
import { revokeCredentials } from './credentials/store.ts'
import type { Db, Tx } from './database.ts'
import type { TenancyEvents } from './tenancy/events.ts'
import type { GatewayTimers } from './timers.ts'

const EVERY_MS = 3_600_000
/** Rows per transaction; what remains has the next one, at once. */
const KEYS = 500
const AUDIT_ENTRIES = 5_000
const DAY_MS = 86_400_000
const SWEEP: Actor = { kind: 'system', id: 'sweep' }

export interface SweepDependencies {
  readonly db: Db
  readonly events: TenancyEvents
  /** How long the audit log is kept, in milliseconds. */
  readonly auditMs: number
}

/**
 * Removes what has served its time: keys 30 days after their expiry, expired codes, throttle marks, freed addresses,
 * tombstones of pods that nothing refers to any more, old entries of the audit log.
 */
export function sweepHourly(timers: GatewayTimers, deps: SweepDependencies): void {
  const retry = (): Date => new Date(Date.now() + EVERY_MS)
  timers.work('sweep', { concurrency: 1, attemptMs: 60_000, retry }, async ({ run, postpone }) => {
    await run(async (tx) => {
      const more = await sweep(tx, deps, new Date())
      await postpone(tx, new Date(Date.now() + (more ? 0 : EVERY_MS)), {})
    })
  })
}

const FORGET_AUDIT = sql<{ position: string }, [before: string, limit: number]>(`
delete from audit_entries
 where position in (select position from audit_entries where at < $1::timestamptz order by at, position limit $2)
returning position::text`)

const FORGET_PODS = sql<never>(`
delete from pods
 where deleted_at is not null and not exists (select from inboxes where inboxes.pod_id = pods.id)`)

/** @returns whether more is left than one transaction should hold. */
async function sweep(tx: Tx, { events, auditMs }: SweepDependencies, now: Date): Promise<boolean> {
  const orm = await tx.orm()
  const unlisted = await orm.credential.findMany({
    where: { expiresAt: { lt: new Date(now.getTime() - LIMITS.apiKey.listedAfterExpiry) } },
    select: { id: true },
    take: KEYS,
  })
  const expired = { id: { in: unlisted.map((row) => row.id) } }
  await revokeCredentials(tx, events, expired, { actor: SWEEP, now, action: 'credential.expired' })
  await orm.verificationCode.deleteMany({ where: { expiresAt: { lt: now } } })
  await orm.codeMail.deleteMany({ where: { createdAt: { lt: new Date(now.getTime() - DAY_MS) } } })
  await orm.retiredAddress.deleteMany({ where: { until: { lt: now } } })
  await tx.query(FORGET_PODS)
  const forgotten = await tx.query(FORGET_AUDIT, new Date(now.getTime() - auditMs).toISOString(), AUDIT_ENTRIES)
  return unlisted.length === KEYS || forgotten.length === AUDIT_ENTRIES
}
