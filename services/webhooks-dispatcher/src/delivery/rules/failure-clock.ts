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
 * hours apart, returns `warn` once when it has run for half of its time, and `disable` when it has run for five days of
 * failures only.
 */
export function afterFailure(clock: FailureClock, at: Date): ClockStep {
  const { failureSpan, failureWindow, disableAfter } = LIMITS.webhook
  if (clock.clockStartedAt) {
    const runs = at.getTime() - clock.clockStartedAt.getTime()
    const disable = runs >= disableAfter
    const warn = !disable && clock.warnedAt === null && runs >= disableAfter / 2
    return { ...clock, warnedAt: warn ? at : clock.warnedAt, disable, warn }
  }
  const span = clock.failingSince ? at.getTime() - clock.failingSince.getTime() : undefined
  if (clock.failingSince === null || span === undefined || span > failureWindow) {
    return { ...STOPPED, failingSince: at, disable: false, warn: false }
  }
  const clockStartedAt = span >= failureSpan ? at : null
  return { ...STOPPED, failingSince: clock.failingSince, clockStartedAt, disable: false, warn: false }
}
