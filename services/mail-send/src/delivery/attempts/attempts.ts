import type { AttemptContext, Timers, WorkOptions } from '@restante/jobs'
import { type Database, isInfrastructureError, type Logger, retryThroughOutage, type Tx } from '@restante/service'
import type { SendRecord } from '../outbound/sends.ts'
import type { DeliveryKind, DeliveryTarget, DeliveryTimers } from '../outbound/timers.ts'
import { type BegunDelivery, type OpenDelivery, settle } from '../outcome/delivery.ts'
import type { Outcome } from '../outcome/outcome.ts'
import type { RetryPolicy } from '../outcome/retry-policy.ts'
import type { Route } from '../routes/route.ts'
import type { Settled, Settlements } from './decisions.ts'
import { KeyedSemaphore } from './keyed-semaphore.ts'
import { begin, findOpen } from './store.ts'
import { attemptSeconds, deliveriesSettled, firstAttemptDelay, unknownOutcomes } from './telemetry.ts'

export interface AttemptsOptions {
  readonly db: Database
  readonly settlements: Settlements
  readonly timers: Timers<DeliveryTimers>
  readonly routes: Readonly<Record<DeliveryKind, Route>>
  readonly retry: RetryPolicy
  readonly concurrency: number
  readonly perDestination: number
  readonly log: Logger
}

/** Servers may take their time with each recipient of a message (RFC 5321 4.5.3.2). */
const ATTEMPT_MS = 15 * 60_000
/** How long a worker waits for a slot at a busy destination before it does other work. */
const PATIENCE_MS = 2_000
const BUSY_MS = 5_000
/** Delay of retries after failures of the own infrastructure. */
const SOON_MS = 1_000
const MOST_MS = 10_000

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
      patienceMs: PATIENCE_MS,
    })
  }

  /** Registers the handlers of the timers. To be called before they start. */
  register(): void {
    for (const kind of ['delivery-local', 'delivery-outside'] as const) {
      const work: WorkOptions<DeliveryTarget> = {
        concurrency: this.#options.concurrency,
        attemptMs: ATTEMPT_MS,
        // Reached only after failures of the own infrastructure, so it is retried without limit.
        retry: (attempt) => soon(Math.min(SOON_MS * 2 ** (attempt - 1), MOST_MS)),
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
      await context.run((tx) => context.postpone(tx, soon(BUSY_MS)))
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

/** One attempt at the recipients of one message at one destination. */
class Attempt {
  readonly #options: AttemptsOptions
  readonly #route: Route
  readonly #context: AttemptContext<DeliveryTarget>
  readonly #send: SendRecord
  readonly #deliveries: readonly OpenDelivery[]
  readonly #settled: Settled[] = []
  /** Outcomes that are not committed yet. */
  #pending: Settled[] = []

  constructor(
    options: AttemptsOptions,
    route: Route,
    context: AttemptContext<DeliveryTarget>,
    send: SendRecord,
    deliveries: readonly OpenDelivery[],
  ) {
    this.#options = options
    this.#route = route
    this.#context = context
    this.#send = send
    this.#deliveries = deliveries
  }

  async make(): Promise<void> {
    const begun = performance.now()
    this.#observeStart()
    try {
      await this.#attempt()
      await this.#conclude()
    } catch (error) {
      await this.#commitPending()
      if (!(await this.#reject(error))) throw error
    } finally {
      this.#tell(performance.now() - begun)
    }
  }

  #attempt(): Promise<void> {
    const { destination } = this.#context.timer.payload
    const steps = {
      begin: async (deliveries: readonly OpenDelivery[]) => {
        await this.#commitPending()
        return begin(this.#options.db, deliveries)
      },
      report: (delivery: BegunDelivery, outcome: Outcome) => this.#report(delivery, outcome),
    }
    const mail = { send: this.#send, destination, deliveries: this.#deliveries }
    return this.#route.attempt(mail, steps, this.#context.signal)
  }

  #report(delivery: BegunDelivery, outcome: Outcome): void {
    const clock = { acceptedAt: this.#send.acceptedAt, now: new Date(), random: Math.random() }
    this.#settle({ delivery, settlement: settle(delivery, outcome, clock, this.#options.retry) })
  }

  #settle(item: Settled): void {
    this.#settled.push(item)
    this.#pending.push(item)
  }

  /**
   * Rows are guarded by their attempt's number, so this is correct even when the timer belongs to another attempt by
   * now. It is retried through an outage of the database: an accepted message would be sent again if the outcome were
   * not recorded.
   */
  async #commitPending(): Promise<void> {
    const pending = this.#pending
    if (pending.length === 0) return
    const { db, settlements } = this.#options
    await retryThroughOutage(this.#context.signal, () =>
      db.transaction((tx) => settlements.record(tx, this.#send, pending)),
    )
    this.#pending = []
  }

  /**
   * Commits the last outcomes together with the end of the timer or its next time. The timer is also kept for
   * deliveries that another attempt has taken first: an attempt that lost its lease must not leave them open without a
   * timer.
   */
  async #conclude(): Promise<void> {
    const undecided = this.#settled.length < this.#deliveries.length
    const next = earliest(this.#settled) ?? (undecided ? soon(BUSY_MS) : undefined)
    await this.#context.run(async (tx: Tx) => {
      await this.#options.settlements.record(tx, this.#send, this.#pending)
      if (next) await this.#context.postpone(tx, next)
    })
    this.#pending = []
  }

  /**
   * A failure that is not caused by the infrastructure would recur forever: after the retry window the recipients are
   * given up. This is not a reason to suppress their addresses. They are taken over in the transaction that holds the
   * timer: an overtaken attempt would otherwise take them from the newer one, whose outcome could then not be recorded.
   * @returns whether they were given up.
   */
  async #reject(error: unknown): Promise<boolean> {
    const over = Date.now() > this.#send.acceptedAt.getTime() + this.#options.retry.giveUpAfterMs
    if (!over || isInfrastructureError(error) || this.#context.signal.aborted) return false
    this.#settled.push(...(await this.#context.run((tx) => this.#rejectOpen(tx))))
    this.#options.log.error({ err: error, send: this.#send.id }, 'delivery given up after an internal failure')
    return true
  }

  async #rejectOpen(tx: Tx): Promise<Settled[]> {
    const found = await findOpen(tx, this.#send.id, this.#context.timer.payload.destination)
    const open = found?.deliveries ?? []
    const verdict = { status: '5.3.0', text: 'The message could not be delivered because of an internal failure.' }
    const rejected = (await begin(tx, open)).map(
      (delivery): Settled => ({ delivery, settlement: { state: 'rejected', verdict } }),
    )
    await this.#options.settlements.record(tx, this.#send, rejected)
    if (rejected.length < open.length) await this.#context.postpone(tx, soon(BUSY_MS))
    return rejected
  }

  #observeStart(): void {
    const route = this.#route.name
    const unknown = this.#deliveries.filter(({ state }) => state === 'handing_over').length
    if (unknown > 0 && !this.#route.repeatable) unknownOutcomes.inc(unknown)
    if (this.#deliveries.some(({ attempts }) => attempts === 0)) {
      firstAttemptDelay.observe({ route }, Math.max(0, Date.now() - this.#send.acceptedAt.getTime()) / 1_000)
    }
  }

  /** One wide log line per attempt: ids and statuses, never an address or a server's words, which may quote one. */
  #tell(ms: number): void {
    const route = this.#route.name
    attemptSeconds.observe({ route }, ms / 1_000)
    for (const { settlement } of this.#settled) deliveriesSettled.inc({ route, outcome: settlement.state })
    this.#options.log.info(
      {
        send: this.#send.id,
        message_id: this.#send.messageId,
        ...(this.#send.origin.kind === 'inbox' && {
          organization_id: this.#send.origin.organizationId,
          inbox_uid: this.#send.origin.inboxUid,
        }),
        route,
        destination: this.#context.timer.payload.destination,
        attempt: this.#context.timer.attempt,
        ms: Math.round(ms),
        deliveries: this.#settled.map(({ delivery, settlement }) => ({
          id: delivery.id,
          attempt: delivery.attempts,
          outcome: settlement.state,
          status: settlement.verdict.status,
          mta: settlement.verdict.mta,
        })),
        undecided: this.#deliveries.length - this.#settled.length,
      },
      'delivery attempt',
    )
  }
}

function earliest(settled: readonly Settled[]): Date | undefined {
  const times = settled.flatMap(({ settlement }) =>
    settlement.state === 'deferred' ? [settlement.retryAt.getTime()] : [],
  )
  return times.length > 0 ? new Date(Math.min(...times)) : undefined
}

function soon(ms: number): Date {
  return new Date(Date.now() + ms * (0.5 + Math.random()))
}
