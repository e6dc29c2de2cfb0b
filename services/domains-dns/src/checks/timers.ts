import type { Schedule } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import type { DomainTimers } from '../timers/kinds.ts'

/** The timers of checks are kinds among those of the service. */
export type CheckTimers = DomainTimers

/** Makes a check of a registration at once, or at a time by the schedule, in the transaction that wants it. */
export async function scheduleCheck(tx: Tx, schedule: Schedule<CheckTimers>, uid: string, at?: Date): Promise<void> {
  // A check that waits or runs already is joined: at its end it sees that another one is wanted.
  if (at === undefined) await schedule.scheduleIfMissing(tx, { kind: 'domain-verify', key: uid, payload: {} })
  else await schedule.schedule(tx, { kind: 'domain-check', key: uid, dueAt: at, payload: {} })
}

/** Ends the checks of a registration that is being deleted. A running one finds no row and has no effect. */
export async function cancelChecks(tx: Tx, schedule: Schedule<CheckTimers>, uid: string): Promise<void> {
  await schedule.cancelIdle(tx, 'domain-check', [uid])
  await schedule.cancelIdle(tx, 'domain-verify', [uid])
}
