import type { Check, CheckPage } from '@restante/contracts/internal'
import type { Schedule } from '@restante/jobs'
import { type Database, sql } from '@restante/service/database'
import { DELIVERY_KINDS, type SendTimers, shareOf } from '../timers/kinds.ts'

const PAGE = 2_000
const FIRST = '00000000-0000-0000-0000-000000000000'
const KINDS = DELIVERY_KINDS.map((kind) => `'${kind}'`).join(', ')

interface OpenRow {
  readonly id: string
  readonly send_id: string
  readonly destination: string
  readonly inside: boolean
  readonly message_id: string
  readonly organization_id: string | null
  readonly lost: boolean
}

// A page of all deliveries, so that the cost of a call does not depend on how many of them are finished.
const DELIVERIES = sql<OpenRow, [after: string, rows: number]>(`
select d.id, d.send_id, d.destination, d.inside, s.message_id, s.organization_id,
       d.state in ('queued', 'handing_over', 'deferred')
         and not exists (select from timers t
                          where t.kind in (${KINDS}) and t.key = d.send_id || '/' || d.destination) as lost
  from (select * from deliveries where id > $1 order by id limit $2) d
  join sends s on s.id = d.send_id
 order by d.id`)

const DRAFTS = sql<{ id: string; send_at: Date | null; lost: boolean }, [after: string, rows: number]>(`
select d.id, d.send_at,
       d.send_at is not null and d.send_status = 'scheduled'
         and not exists (select from timers t where t.kind = 'draft-send' and t.key = d.id::text) as lost
  from (select * from drafts where id > $1 order by id limit $2) d
 order by d.id`)

interface Options {
  readonly db: Database
  readonly timers: Schedule<SendTimers>
}

/** Checks that every delivery that is not finished has a timer for its next attempt. A repair attempts it now. */
export function lostDeliveriesCheck({ db, timers }: Options): Check {
  return async ({ after = FIRST, repair }): Promise<CheckPage> => {
    const rows = await db.query(DELIVERIES, after, PAGE)
    const lost = rows.filter((row) => row.lost)
    if (repair) {
      await db.transaction(async (tx) => {
        for (const row of lost) await timers.scheduleIfMissing(tx, attemptOf(row))
      })
    }
    return {
      examined: rows.length,
      findings: lost.map(({ id }) => findingOf(id, 'a delivery waits for an attempt that nothing makes', repair)),
      ...nextOf(rows),
    }
  }
}

/** Checks that every scheduled draft has the timer that sends it. */
export function lostDraftsCheck({ db, timers }: Options): Check {
  return async ({ after = FIRST, repair }): Promise<CheckPage> => {
    const rows = await db.query(DRAFTS, after, PAGE)
    const lost = rows.filter((row) => row.lost)
    if (repair) {
      await db.transaction(async (tx) => {
        for (const { id, send_at } of lost) {
          const due = send_at === null ? {} : { dueAt: send_at }
          await timers.scheduleIfMissing(tx, { kind: 'draft-send', key: id, ...due, payload: { draft_id: id } })
        }
      })
    }
    return {
      examined: rows.length,
      findings: lost.map(({ id }) => findingOf(id, 'a scheduled draft has no timer', repair)),
      ...nextOf(rows),
    }
  }
}

function attemptOf({ send_id, destination, inside, message_id, organization_id }: OpenRow) {
  const sender_domain = message_id.slice(message_id.lastIndexOf('@') + 1, -1)
  return {
    kind: inside ? ('delivery-local' as const) : ('delivery-outside' as const),
    key: `${send_id}/${destination}`,
    payload: { send_id, destination, sender_domain },
    share: shareOf(organization_id ?? undefined),
  }
}

function findingOf(subject: string, problem: string, repair: boolean) {
  return { subject, problem, state: repair ? ('repaired' as const) : ('open' as const) }
}

function nextOf(rows: readonly { readonly id: string }[]): Pick<CheckPage, 'next'> {
  const last = rows.at(-1)
  return last && rows.length === PAGE ? { next: last.id } : {}
}
