/**
 * The attempt has lost its timer: its lease ran out and another attempt got the timer, or the timer was cancelled or
 * rescheduled. The effect of the attempt was refused. This is not a failure, and nothing is to be retried.
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
    super(`${attempts} attempts were started, but none has completed.`)
    this.name = 'AttemptsExhaustedError'
  }
}
