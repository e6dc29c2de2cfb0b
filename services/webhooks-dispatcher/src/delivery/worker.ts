import { LIMITS } from '@restante/contracts/vocabulary'
import { Timers, type TimersOptions } from '@restante/jobs'
import { Deliverer, type DelivererOptions } from './attempt.ts'
import type { TimerKinds } from './timers.ts'

/** A request takes at most the delivery timeout; the rest is for an outage of the database, in which its answer is kept. */
const ATTEMPT_MS = 120_000
/** A failure of ours, not the receiver's: the attempt is repeated, does not count, and waits longer each time. */
const OWN_FAILURE_MS = { first: 2_000, most: 10_000 }
/** A shutdown waits for requests that run: a receiver that is cut off would get the same event again. */
const DRAIN_MS = LIMITS.webhook.timeout + 1_000

export interface DeliveryTimersOptions extends Omit<DelivererOptions, 'advance'> {
  readonly redis: TimersOptions['redis']
  /** Requests of this process at once. */
  readonly concurrency: number
}

/** The timers of deliveries, with the worker that makes their attempts. */
export function deliveryTimers({ redis, concurrency, ...deps }: DeliveryTimersOptions): Timers<TimerKinds> {
  const { db, log } = deps
  const timers = new Timers<TimerKinds>({ db, redis, log, drainMs: DRAIN_MS })
  timers.work(
    'webhook-delivery',
    {
      concurrency,
      attemptMs: ATTEMPT_MS,
      retry: (attempt) => new Date(Date.now() + Math.min(OWN_FAILURE_MS.first * attempt, OWN_FAILURE_MS.most)),
    },
    new Deliverer({ ...deps, advance: (ids) => timers.advance(db, 'webhook-delivery', ids) }).attempt,
  )
  return timers
}
