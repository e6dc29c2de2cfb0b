import { LIMITS } from '@restante/contracts/vocabulary'
import { Timers, type TimersOptions } from '@restante/jobs'
import { jitteredBackoff } from '@restante/service/concurrency'
import { OutboundUnavailableError } from '@restante/service/outbound'
import { Warnings } from '../warnings/warnings.ts'
import { ATTEMPT_MS, Deliverer, type DelivererOptions } from './attempt.ts'
import type { TimerKinds } from './timers.ts'

/** A failure of ours, not the receiver's: the attempt is repeated, does not count, and waits longer each time. */
const OWN_FAILURE = { firstMs: 2_000, longestMs: 10_000 }
/** Without name servers or sockets nothing can be sent, and thousands of deliveries may be waiting. */
const UNAVAILABLE = { firstMs: 2_000, longestMs: 60_000 }
/** A shutdown waits for requests that run: a receiver that is cut off would get the same event again. */
const DRAIN_MS = LIMITS.webhook.timeout + 1_000

export interface DeliveryTimersOptions extends Omit<DelivererOptions, 'advance' | 'warnings'> {
  readonly redis: TimersOptions['redis']
}

/** The timers of deliveries, with the worker that makes their attempts. */
export function deliveryTimers({ redis, concurrency, ...deps }: DeliveryTimersOptions): Timers<TimerKinds> {
  const { db, log } = deps
  const timers = new Timers<TimerKinds>({ db, redis, log, drainMs: DRAIN_MS })
  const advance: DelivererOptions['advance'] = (postponed) =>
    timers.advance(
      db,
      'webhook-delivery',
      postponed.map(({ id }) => id),
      postponed.map(({ dueAt }) => dueAt),
    )
  const warnings = new Warnings({ db, log, gateway: deps.gateway, schedule: timers })
  timers.work('webhook-warning', warnings.work, warnings.mail)
  timers.work(
    'webhook-delivery',
    {
      concurrency,
      attemptMs: ATTEMPT_MS,
      direct: concurrency,
      retry: (attempt, error) => {
        const waits = error instanceof OutboundUnavailableError ? UNAVAILABLE : OWN_FAILURE
        return new Date(Date.now() + jitteredBackoff(attempt, waits))
      },
    },
    new Deliverer({ ...deps, warnings, concurrency, advance }).attempt,
  )
  return timers
}
