import { LIMITS } from '@restante/contracts/vocabulary'

/** Failure state of a webhook; both absent after any success. */
export interface FailureClock {
  /** First failure of the current window. */
  readonly failingSince: Date | null
  /** When the clock started; it runs until a success, or until the webhook is disabled. */
  readonly clockStartedAt: Date | null
}

export const STOPPED: FailureClock = { failingSince: null, clockStartedAt: null }

/**
 * The clock after one more failed attempt (events 8.4). It starts once two failures within 24 hours are at least 12
 * hours apart, and returns `disable` when it has run for five days of failures only.
 */
export function afterFailure(clock: FailureClock, at: Date): FailureClock & { readonly disable: boolean } {
  const { failureSpan, failureWindow, disableAfter } = LIMITS.webhook
  if (clock.clockStartedAt) {
    return { ...clock, disable: at.getTime() - clock.clockStartedAt.getTime() >= disableAfter }
  }
  const span = clock.failingSince ? at.getTime() - clock.failingSince.getTime() : undefined
  if (clock.failingSince === null || span === undefined || span > failureWindow) {
    return { failingSince: at, clockStartedAt: null, disable: false }
  }
  return { failingSince: clock.failingSince, clockStartedAt: span >= failureSpan ? at : null, disable: false }
}
