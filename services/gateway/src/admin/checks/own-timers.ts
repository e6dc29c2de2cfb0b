import type { Finding } from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import type { Db } from '../../storage/database.ts'
import type { GatewaySchedule } from '../../storage/timers.ts'

const MOST = 1_000

const PURGES = sql<{ uid: string }, [rows: number]>(`
select uid from inboxes
 where deleted_at is not null
   and not exists (select from timers t where t.kind = 'inbox-purge' and t.key = inboxes.uid::text)
 limit $1`)
const DELETIONS = sql<{ id: string }, [rows: number]>(`
select id from organizations
 where deleting_at is not null
   and not exists (select from timers t where t.kind = 'organization-deletion' and t.key = organizations.id::text)
 limit $1`)

/** Finds deletions that have begun and that no timer continues. A repair schedules them. */
export async function lostDeletions(db: Db, timers: GatewaySchedule, repair: boolean): Promise<Finding[]> {
  const inboxes = (await db.query(PURGES, MOST)).map(({ uid }) => uid)
  const organizations = (await db.query(DELETIONS, MOST)).map(({ id }) => id)
  if (repair) {
    await db.transaction(async (tx) => {
      for (const key of inboxes) await timers.scheduleIfMissing(tx, { kind: 'inbox-purge', key, payload: { done: [] } })
      for (const key of organizations)
        await timers.scheduleIfMissing(tx, { kind: 'organization-deletion', key, payload: {} })
    })
  }
  const state = repair ? 'repaired' : 'open'
  return [
    ...inboxes.map((id): Finding => ({ subject: `inbox ${id}`, problem: 'nothing awaits its purge', state })),
    ...organizations.map((id): Finding => {
      return { subject: `organization ${id}`, problem: 'nothing continues its deletion', state }
    }),
  ]
}
