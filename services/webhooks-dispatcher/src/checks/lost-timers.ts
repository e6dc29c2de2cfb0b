import type { Check, CheckPage } from '@restante/contracts/internal'
import type { Schedule } from '@restante/jobs'
import { type Database, sql } from '@restante/service/database'
import type { TimerKinds } from '../delivery/timers.ts'

const PAGE = 2_000

const DELIVERIES = sql<{ id: string; lost: boolean }, [after: string, rows: number]>(`
select d.id, not exists (select from timers t where t.kind = 'webhook-delivery' and t.key = d.id) as lost
  from (select id from deliveries where id > $1 order by id limit $2) d
 order by d.id`)

/** Checks that every delivery has a timer for its next attempt. A repair attempts it now. */
export function lostDeliveriesCheck({
  db,
  timers,
}: {
  readonly db: Database
  readonly timers: Schedule<TimerKinds>
}): Check {
  return async ({ after = '', repair }): Promise<CheckPage> => {
    const rows = await db.query(DELIVERIES, after, PAGE)
    const lost = rows.filter((row) => row.lost)
    if (repair) {
      await db.transaction(async (tx) => {
        for (const { id } of lost)
          await timers.scheduleIfMissing(tx, { kind: 'webhook-delivery', key: id, payload: {} })
      })
    }
    const last = rows.at(-1)
    return {
      examined: rows.length,
      findings: lost.map(({ id }) => ({
        subject: id,
        problem: 'a delivery waits for an attempt that nothing makes',
        state: repair ? 'repaired' : 'open',
      })),
      ...(last && rows.length === PAGE && { next: last.id }),
    }
  }
}
