import type { AttemptContext, Timers, WorkOptions } from '@restante/jobs'
import { backoff } from '@restante/service/concurrency'
import type { DeliveryKind, DeliveryTarget, SendTimers } from '../outbound/timers.ts'
import type { Route } from '../routes/route.ts'
import { Attempt, type AttemptOptions, BUSY_RETRY_MS, soon } from './attempt.ts'
import { KeyedSemaphore } from './keyed-semaphore.ts'
import { findOpen } from './store.ts'

export interface AttemptsOptions extends AttemptOptions {
  readonly timers: Timers<SendTimers>
  readonly routes: Readonly<Record<DeliveryKind, Route>>
  readonly concurrency: number
  readonly perDestination: number
}

/** Servers may take their time with each recipient of a message (RFC 5321 4.5.3.2). */
const ATTEMPT_MS = 15 * 60_000
/** How long a worker waits for a slot at a busy destination before it does other work. */
const SLOT_WAIT_MS = 2_000
/** Delay of retries after failures of the own infrastructure. */
const RETRY = { firstMs: 1_000, longestMs: 10_000 }

/**
 * Makes the delivery attempts. Each outcome is committed before the next recipient's server is contacted; the timer is
 * postponed or deleted in the transaction that records the last one.
 */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #slots: KeyedSemaphore

  constructor(options: AttemptsOptions) {
    this.#options = options
    this.#slots = new KeyedSemaphore({
      most: options.perDestination,
      mostWaiting: Math.ceil(options.concurrency / 2),
      maxWaitMs: SLOT_WAIT_MS,
    })
  }

  /** Registers the handlers of the timers. To be called before they start. */
  register(): void {
    for (const kind of ['delivery-local', 'delivery-outside'] as const) {
      const work: WorkOptions<DeliveryTarget> = {
        concurrency: this.#options.concurrency,
        attemptMs: ATTEMPT_MS,
        // Reached only after failures of the own infrastructure, so it is retried without limit.
        retry: (attempt) => soon(backoff(attempt, RETRY)),
      }
      this.#options.timers.work(kind, work, (context) => this.#make(kind, context))
    }
  }

  async #make(kind: DeliveryKind, context: AttemptContext<DeliveryTarget>): Promise<void> {
    const { send_id, destination } = context.timer.payload
    const route = this.#options.routes[kind]
    const bottleneck = route.bottleneck(destination)
    const free = bottleneck === undefined ? () => {} : await this.#slots.take(bottleneck)
    if (!free) {
      await context.run((tx) => context.postpone(tx, soon(BUSY_RETRY_MS)))
      return
    }
    try {
      const found = await findOpen(this.#options.db, send_id, destination)
      if (found) await new Attempt(this.#options, route, context, found.send, found.deliveries).make()
    } finally {
      free()
    }
  }
}
