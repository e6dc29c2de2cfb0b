/**
 * The timer is no longer this attempt's: its lease ran out and the timer was given to another, or it was cancelled or
 * rescheduled. The attempt's effect was refused. This is not a failure, and nothing is to be retried.
 */
export class LeaseLostError extends Error {
  constructor(timerId: string) {
    super(`The lease of timer ${timerId} is lost.`)
    this.name = 'LeaseLostError'
  }
}

/** Passed to `givenUp` when attempts repeatedly ended without an outcome, for example because their process died. */
export class AttemptsExhaustedError extends Error {
  constructor(attempts: number) {
    super(`${attempts} attempts were begun and none has completed.`)
    this.name = 'AttemptsExhaustedError'
  }
}
