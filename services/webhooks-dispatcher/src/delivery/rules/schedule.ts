import { LIMITS } from '@restante/contracts/vocabulary'

/**
 * When a delivery is retried after its `failures`-th failed attempt; `undefined` when it is given up (events 8.3).
 * @param random in [0, 1): the jitter, up to a tenth of the wait and none on the first.
 */
export function nextAttempt(failures: number, now: Date, random: number): Date | undefined {
  const wait = LIMITS.webhook.retries[failures - 1]
  if (wait === undefined) return undefined
  const jitter = failures === 1 ? 0 : wait * LIMITS.webhook.jitter * random
  return new Date(now.getTime() + wait + jitter)
}
