import { type DeletedInbox, PURGING_SERVICES, type PurgingService } from '@restante/contracts/internal'
import { backoff } from '@restante/service/concurrency'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import type { Db } from '../storage/database.ts'
import type { GatewaySchedule, GatewayTimers } from '../storage/timers.ts'

export interface PurgeOptions {
  readonly db: Db
  readonly log: Logger
  /** The clients of the services that store data of inboxes. */
  readonly peer: (service: PurgingService) => ServiceClient<'gateway'>
}

/**
 * An empty inbox is purged as soon as its event is consumed: clients that recreate an address should not wait longer.
 */
const QUESTIONS = { firstMs: 150, longestMs: 5_000 }
const ATTEMPT_MS = 30_000
const AT_ONCE = 16

/**
 * Waits until every service has purged a deleted inbox: a timer of the transaction that deleted it. Then its row is
 * deleted, and its address is free (identity 10.2). A service that is down is asked until it answers, without limit.
 */
export function awaitPurges(timers: GatewayTimers, { db, log, peer }: PurgeOptions): void {
  const options = { concurrency: AT_ONCE, attemptMs: ATTEMPT_MS, retry: nextQuestion }
  timers.work('inbox-purge', options, async ({ timer, run, postpone }) => {
    const inbox = await findDeleted(db, timer.key)
    if (inbox === undefined) return
    const { done } = timer.payload
    const waiting = PURGING_SERVICES.filter((service) => !done.includes(service))
    const purged = (await Promise.all(waiting.map(ask(inbox)))).flat()
    await run(async (tx) => {
      if (purged.length === waiting.length) await forget(tx, inbox.inbox_uid)
      else await postpone(tx, nextQuestion(timer.attempt), { done: [...done, ...purged] })
    })
  })

  /** @returns the service, if it has purged the inbox. */
  function ask(inbox: DeletedInbox) {
    return async (service: PurgingService): Promise<PurgingService[]> => {
      try {
        const { purged } = await peer(service).call(`${service}.purgeInbox`, inbox)
        return purged ? [service] : []
      } catch (error) {
        log.warn({ err: error, service, inbox_uid: inbox.inbox_uid }, 'purge status request failed')
        return []
      }
    }
  }
}

/** Sets the timer of an inbox that this transaction deletes. */
export function awaitPurge(tx: Tx, timers: GatewaySchedule, uid: string): Promise<void> {
  return timers.schedule(tx, { kind: 'inbox-purge', key: uid, dueAt: nextQuestion(1), payload: { done: [] } })
}

function nextQuestion(attempt: number): Date {
  return new Date(Date.now() + backoff(attempt, QUESTIONS))
}

const FIND = sql<Omit<DeletedInbox, 'deleted_at'> & { deleted_at: Date }, [uid: string]>(`
select organization_id, pod_id, uid as inbox_uid, address, deleted_at
  from inboxes where uid = $1 and deleted_at is not null`)

async function findDeleted(db: Queryable, uid: string): Promise<DeletedInbox | undefined> {
  const [row] = await db.query(FIND, uid)
  return row && { ...row, deleted_at: row.deleted_at.toISOString() }
}

const FORGET = sql<never, [uid: string]>('delete from inboxes where uid = $1 and deleted_at is not null')

async function forget(tx: Tx, uid: string): Promise<void> {
  await tx.query(FORGET, uid)
}
