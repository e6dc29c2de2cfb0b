import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import { type Db, sharedTime, type Tx } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'
import type { TenancyEvents } from '../tenancy/events.ts'

const EVERY_MS = 3_600_000
/** Rows per transaction; the rest is left to the next one, which follows at once. */
const KEYS = 500
const ROWS = 5_000
const DAY_MS = 86_400_000
const SWEEP: Actor = { kind: 'system', id: 'sweep' }

export interface SweepOptions {
  readonly db: Db
  readonly events: TenancyEvents
  /** How long the audit log is kept, in milliseconds. */
  readonly auditMs: number
}

/**
 * Removes expired rows: keys 30 days after their expiry, expired codes, throttle marks, counts of
 * sign-in keys, freed addresses, tombstones of
 * pods without references, old entries of the audit log.
 */
export function sweepHourly(timers: GatewayTimers, deps: SweepOptions): void {
  const retry = (): Date => new Date(Date.now() + EVERY_MS)
  timers.work('sweep', { concurrency: 1, attemptMs: 60_000, retry }, async ({ run, postpone }) => {
    await run(async (tx) => {
      const now = await sharedTime(tx)
      const more = await sweep(deps.db.withOrm(tx), deps, now)
      await postpone(tx, new Date(now.getTime() + (more ? 0 : EVERY_MS)), {})
    })
  })
}

/** Rows of a table that expired before a given time. Each takes as many as one transaction should lock. */
const forget = (table: string, key: string, over: string) =>
  sql<{ gone: number }, [moment: string, limit: number]>(`
delete from ${table} where ${key} in (select ${key} from ${table} where ${over} < $1::timestamptz order by ${over} limit $2)
returning 1 as gone`)

const FORGET_CODES = forget('verification_codes', 'id', 'expires_at')
const FORGET_CODE_MAILS = forget('code_mails', 'id', 'created_at')
const FORGET_COUNTED_KEYS = forget('counted_sign_in_keys', 'credential_id', 'minted_at')
const FORGET_ADDRESSES = forget('retired_addresses', 'address', 'until')
const FORGET_AUDIT = forget('audit_entries', 'position', 'at')

const FORGET_PODS = sql<{ gone: number }, [limit: number]>(`
delete from pods
 where id in (select id from pods
               where deleted_at is not null and not exists (select from inboxes where inboxes.pod_id = pods.id)
               limit $1)
returning 1 as gone`)

/** @returns whether more is left than one transaction should lock. */
async function sweep(tx: Tx, { events, auditMs }: SweepOptions, now: Date): Promise<boolean> {
  const orm = await tx.orm()
  const unlisted = await orm.credential.findMany({
    where: { expiresAt: { lt: new Date(now.getTime() - LIMITS.apiKey.listedAfterExpiry) } },
    select: { id: true },
    take: KEYS,
  })
  const expired = { id: { in: unlisted.map((row) => row.id) } }
  await revokeCredentials(tx, events, expired, { actor: SWEEP, now, action: 'credential.expired' })
  const before = (ms: number): string => new Date(now.getTime() - ms).toISOString()
  const forgotten = [
    await tx.query(FORGET_CODES, before(0), ROWS),
    await tx.query(FORGET_CODE_MAILS, before(DAY_MS), ROWS),
    await tx.query(FORGET_COUNTED_KEYS, before(2 * DAY_MS), ROWS),
    await tx.query(FORGET_ADDRESSES, before(0), ROWS),
    await tx.query(FORGET_PODS, ROWS),
    await tx.query(FORGET_AUDIT, before(auditMs), ROWS),
  ]
  return unlisted.length === KEYS || forgotten.some((rows) => rows.length === ROWS)
}
