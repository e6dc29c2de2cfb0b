import { type BackoffPolicy, backoff } from '@restante/service/concurrency'

/** When temporary failures are retried (mail 15.1). */
export interface RetryPolicy extends BackoffPolicy {
  /** Counted from acceptance; the message bounces when the next attempt would be after it. */
  readonly giveUpAfterMs: number
}

/** Keeps messages that failed together from being retried together. */
const JITTER = 0.1

/**
 * When to retry after `attempts` failed ones, or undefined when retries are used up.
 * @param random from [0, 1), spreads the wait by up to a tenth.
 */
export function retryAt(
  policy: RetryPolicy,
  attempts: number,
  acceptedAt: Date,
  now: Date,
  random: number,
): Date | undefined {
  const wait = backoff(attempts, policy)
  const at = now.getTime() + Math.round(wait * (1 + JITTER * random))
  return at > acceptedAt.getTime() + policy.giveUpAfterMs ? undefined : new Date(at)
}
