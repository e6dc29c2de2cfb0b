import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Schedule } from '@restante/jobs'
import type { Queryable, Tx } from '@restante/service/database'
import { type DomainRow, findByUid } from '../registrations/store.ts'
import { recordRequest } from './store.ts'
import { type CheckTimers, scheduleCheck } from './timers.ts'

/** Requests within this time share a check. */
const JOIN_MS = 10_000
/** Most checks end soon. For others the waiting of many requests must not be a load. */
const SHORTEST_POLL_MS = 50
const LONGEST_POLL_MS = 400

/** A check that somebody waits for. */
export interface RequestedCheck {
  /** The registration when it was requested. */
  readonly row: DomainRow
  /** The value of `checks` at which it has ended. */
  readonly wanted: number
}

/**
 * Requests a check of a registration at once, and starts its clocks anew: the schedule, and the time in which sending has
 * to converge (domains 7.2). Requests within 10 s share a check.
 * @param row locked by the transaction.
 */
export async function requestCheck(
  tx: Tx,
  schedule: Schedule<CheckTimers>,
  row: DomainRow,
  now: Date,
): Promise<RequestedCheck> {
  const wanted = await recordRequest(tx, row.uid, now, JOIN_MS)
  await scheduleCheck(tx, schedule, row.uid)
  return { row, wanted }
}

export type AwaitedCheck =
  | { readonly outcome: 'deleted' }
  /** It will be made, whatever becomes of this process. */
  | { readonly outcome: 'queued' }
  | { readonly outcome: 'ended'; readonly row: DomainRow; readonly isAnswered: boolean }

/** Waits until a requested check has ended, at most 3 s. Any process may make it. */
export async function awaitCheck(on: Queryable, { row: before, wanted }: RequestedCheck): Promise<AwaitedCheck> {
  const begun = performance.now()
  for (;;) {
    const row = await findByUid(on, before.uid)
    if (!row) return { outcome: 'deleted' }
    if (row.checks >= wanted)
      return { outcome: 'ended', row, isAnswered: row.checked_at?.getTime() !== before.checked_at?.getTime() }
    const waited = performance.now() - begun
    const left = LIMITS.domain.verifyWait - waited
    if (left <= 0) return { outcome: 'queued' }
    await sleep(Math.min(Math.max(SHORTEST_POLL_MS, waited / 4), LONGEST_POLL_MS, left))
  }
}
