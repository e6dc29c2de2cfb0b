import type { Schedule } from '@restante/jobs'
import type { Tx } from '@restante/service/database'

/** Kinds of timers of checks; the key of each is the uid of a registration. */
export interface CheckTimers {
  /** By the schedule (domains 7.2): keeps to the pace that all scheduled checks share. */
  readonly 'domain-check': Record<string, never>
  /** The first check, and that of an owner who waits for it: made at once. It schedules the next 'domain-check'. */
  readonly 'domain-verify': Record<string, never>
}

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
