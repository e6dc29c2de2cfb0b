import { sql } from '@restante/service/database'
import type { Actor } from '../audit/actor.ts'
import { revokeCredentials } from '../credentials/store.ts'
import { type Db, sharedTime } from '../storage/database.ts'
import type { GatewayTimers } from '../storage/timers.ts'
import type { TenancyEvents } from '../tenancy/events.ts'

const EVERY_MS = 60_000
/** Keys per transaction; the rest is left to the next one, which follows at once. */
const KEYS = 500
const EXPIRY: Actor = { kind: 'system', id: 'sign-in key expiry' }

const EXPIRED = sql<{ id: string }, [limit: number]>(`
select id from credentials
 where sign_in_status = 'pending' and expires_at <= now() order by id limit $1 for update skip locked`)

/**
 * Deletes sign-in keys that were not proven in time (apps 4). Other expired keys stay in lists for 30 days. The lock excludes
 * a concurrent activation: a key is deleted only while it is pending.
 */
export function deletePendingKeys(timers: GatewayTimers, { db, events }: { db: Db; events: TenancyEvents }): void {
  const retry = (): Date => new Date(Date.now() + EVERY_MS)
  timers.work('pending-sign-in-keys', { concurrency: 1, attemptMs: 60_000, retry }, async ({ run, postpone }) => {
    await run(async (joined) => {
      const tx = db.withOrm(joined)
      const now = await sharedTime(tx)
      const ids = (await tx.query(EXPIRED, KEYS)).map((row) => row.id)
      await revokeCredentials(tx, events, { id: { in: ids } }, { actor: EXPIRY, now, action: 'credential.expired' })
      await postpone(tx, new Date(now.getTime() + (ids.length === KEYS ? 0 : EVERY_MS)), {})
    })
  })
}
