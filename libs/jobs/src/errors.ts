/**
 * The timer is no longer this attempt's: the lease ran out and was given to another, or the timer was cancelled or
 * scheduled anew. Whatever the attempt wanted to commit was refused. No failure, and nothing to retry.
 */
export class LeaseLostError extends Error {
  constructor(timerId: string) {
    super(`The lease of timer ${timerId} is lost.`)
    this.name = 'LeaseLostError'
  }
}

/** What `givenUp` is told when attempts kept ending without a word, for example with the death of their process. */
export class AttemptsExhaustedError extends Error {
  constructor(attempts: number) {
    super(`${attempts} attempts were begun and none has ended well.`)
    this.name = 'AttemptsExhaustedError'
  }
}
