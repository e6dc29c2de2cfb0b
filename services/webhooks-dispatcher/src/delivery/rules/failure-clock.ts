import { LIMITS } from '@restante/contracts/vocabulary'

/** Failure state of a webhook; both absent after any success. */
export interface FailureClock {
  /** First failure of the current window. */
  readonly failingSince: Date | null
  /** When the clock started; it runs until a success, or until the webhook is disabled. */
  readonly clockStartedAt: Date | null
  /** When the owner of the webhook was warned that it runs. */
  readonly warnedAt: Date | null
}

export const STOPPED: FailureClock = { failingSince: null, clockStartedAt: null, warnedAt: null }

/** The clock after a failure, and what has to be done then. */
export interface ClockStep extends FailureClock {
  readonly disable: boolean
  readonly warn: boolean
}

/**
 * The clock after one more failed attempt (events 8.4). It starts once two failures within 24 hours are at least 12
 * hours apart, returns `warn` once when it has run for half of its time, and `disable` when the other half has passed
 * since then: after five days of failures only. Only a failure moves it, so where events are rare it may warn late, and
 * disables later for it: the owner always has the time between the two to repair the receiver.
 */
export function afterFailure(clock: FailureClock, at: Date): ClockStep {
  const { failureSpan, failureWindow, disableAfter } = LIMITS.webhook
  const isHalfAfter = (time: Date) => at.getTime() - time.getTime() >= disableAfter / 2
  if (clock.warnedAt) return { ...clock, disable: isHalfAfter(clock.warnedAt), warn: false }
  if (clock.clockStartedAt) {
    const warn = isHalfAfter(clock.clockStartedAt)
    return { ...clock, warnedAt: warn ? at : null, disable: false, warn }
  }
  const span = clock.failingSince ? at.getTime() - clock.failingSince.getTime() : undefined
  if (clock.failingSince === null || span === undefined || span > failureWindow) {
    return { ...STOPPED, failingSince: at, disable: false, warn: false }
  }
  const clockStartedAt = span >= failureSpan ? at : null
  return { ...STOPPED, failingSince: clock.failingSince, clockStartedAt, disable: false, warn: false }
}

/** Whether two states of a clock differ: most failures change nothing that has to be stored. */
export function hasMoved(from: FailureClock, to: FailureClock): boolean {
  const times = ({ failingSince, clockStartedAt, warnedAt }: FailureClock) =>
    [failingSince, clockStartedAt, warnedAt].map((time) => time?.getTime())
  const after = times(to)
  return times(from).some((time, index) => time !== after[index])
}
