import type { AttemptContext, Schedule, SharedEffect } from '@restante/jobs'
import { type Database, retryThroughOutage, type Tx } from '@restante/service/database'
import { isInfrastructureError } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import type { DeliveryKind, DeliveryTarget, SendTimers } from '../../timers/kinds.ts'
import type { SendRecord } from '../outbound/sends.ts'
import { type BegunDelivery, type Decided, decide, type OpenDelivery } from '../outcome/delivery.ts'
import type { Outcome } from '../outcome/outcome.ts'
import type { RetryPolicy } from '../outcome/retry-policy.ts'
import { NotPromptError, type Place, type Route } from '../routes/route.ts'
import type { WarmUp } from '../warm-up/warm-up.ts'
import type { DecidedSend, Decisions } from './decisions.ts'
import { providerOf } from './providers.ts'
import { begin, findOpen, type OpenTarget } from './store.ts'
import { attemptSeconds, deliveryDecisions, firstAttemptDelay, providerOutcomes, unknownOutcomes } from './telemetry.ts'

/** The last outcomes of an attempt. */
export interface Conclusion extends DecidedSend {
  /** Postpones the timer of the attempt; undefined when it ends. */
  readonly postpone: ((tx: Tx) => Promise<void>) | undefined
}

/** What many attempts do with one statement. */
export interface SharedWork {
  begin(delivery: OpenDelivery): Promise<BegunDelivery | undefined>
  readonly conclusions: SharedEffect<Conclusion>
}

export interface AttemptOptions {
  readonly db: Database
  readonly decisions: Decisions
  readonly retry: RetryPolicy
  readonly timers: Schedule<SendTimers>
  /** Absent: the source address is trusted already. */
  readonly warmUp: WarmUp | undefined
  readonly log: Logger
}

/** Which timer makes the next attempt, given the outcomes of this one. */
export type NextKind = (outcomes: readonly Outcome[], ms: number) => DeliveryKind

/** Rolls the beginning of a delivery back. */
class NoVolumeError extends Error {
  override readonly name = 'NoVolumeError'
}

/** Wait before recipients are tried whose destination is busy, or which another attempt has taken. */
export const BUSY_RETRY_MS = 5_000

/** One attempt at the recipients of one message at one destination. */
export class Attempt {
  readonly #options: AttemptOptions & { readonly shared: SharedWork }
  readonly #route: Route
  readonly #context: AttemptContext<DeliveryTarget>
  readonly #send: SendRecord
  readonly #deliveries: readonly OpenDelivery[]
  readonly #nextKind: NextKind
  readonly #outcomes: Outcome[] = []
  readonly #decided: Decided[] = []
  #started = false
  /** Outcomes that are not committed yet. */
  #pending: Decided[] = []

  constructor(
    options: AttemptOptions & { readonly shared: SharedWork },
    route: Route,
    context: AttemptContext<DeliveryTarget>,
    { send, deliveries }: Pick<OpenTarget, 'send' | 'deliveries'>,
    nextKind: NextKind,
  ) {
    this.#options = options
    this.#route = route
    this.#context = context
    this.#send = send
    this.#deliveries = deliveries
    this.#nextKind = nextKind
  }

  /**
   * @param patience aborted when a session should have come about.
   * @throws NotPromptError when it was: nothing is decided, and the timer is the caller's to postpone.
   */
  async make(patience?: AbortSignal): Promise<void> {
    const begun = performance.now()
    try {
      await this.#attempt(patience)
      await this.#conclude(performance.now() - begun)
    } catch (error) {
      if (error instanceof NotPromptError) throw error
      await this.#commitPending()
      if (!(await this.#reject(error))) throw error
    } finally {
      this.#logAttempt(performance.now() - begun)
    }
  }

  #attempt(patience: AbortSignal | undefined): Promise<void> {
    const place = placeOf(this.#context.timer.payload)
    const steps = {
      begin: async (deliveries: readonly OpenDelivery[]) => {
        this.#observeStart()
        await this.#commitPending()
        return begin(this.#options.db, deliveries)
      },
      beginSending: async (delivery: OpenDelivery) => {
        this.#observeStart()
        await this.#commitPending()
        return this.#beginSending(delivery)
      },
      report: (delivery: BegunDelivery, outcome: Outcome) => this.#report(delivery, outcome),
    }
    const mail = { send: this.#send, ...place, deliveries: this.#deliveries, ...(patience && { patience }) }
    return this.#route.attempt(mail, steps, this.#context.signal)
  }

  /** The count and the beginning commit together. What the day has no room for is left for another one. */
  async #beginSending(delivery: OpenDelivery): Promise<BegunDelivery | undefined> {
    const { db, warmUp, shared } = this.#options
    const isDirect = this.#route.bottleneck(placeOf(this.#context.timer.payload))?.isRelay === false
    if (!warmUp || !isDirect) return shared.begin(delivery)
    return db
      .transaction(async (tx) => {
        const [begun] = await begin(tx, [delivery])
        if (begun && !(await warmUp.count(tx))) throw new NoVolumeError()
        return begun
      })
      .catch((error: unknown) => {
        if (error instanceof NoVolumeError) return undefined
        throw error
      })
  }

  #report(delivery: BegunDelivery, outcome: Outcome): void {
    this.#outcomes.push(outcome)
    const clock = { acceptedAt: this.#send.acceptedAt, now: new Date(), random: Math.random() }
    this.#decide({ delivery, decision: decide(delivery, outcome, clock, this.#options.retry) })
  }

  #decide(item: Decided): void {
    this.#decided.push(item)
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
    const { db, decisions } = this.#options
    await retryThroughOutage(this.#context.signal, () =>
      db.transaction((tx) => decisions.record(tx, this.#send, pending)),
    )
    this.#pending = []
  }

  /**
   * Commits the last outcomes together with the end of the timer or its next time. The timer is also kept for
   * deliveries that another attempt has taken first: an attempt that lost its lease must not leave them open without a
   * timer.
   */
  async #conclude(ms: number): Promise<void> {
    const kind = this.#nextKind(this.#outcomes, ms)
    const undecided = this.#decided.length < this.#deliveries.length
    const next = earliest(this.#decided) ?? (undecided ? soon(BUSY_RETRY_MS) : undefined)
    await this.#context.share(this.#options.shared.conclusions, {
      send: this.#send,
      decided: this.#pending,
      postpone: next && ((tx) => this.#postpone(tx, kind, next)),
    })
    this.#pending = []
  }

  /** The timer of one kind ends in the transaction that schedules that of another. */
  async #postpone(tx: Tx, kind: DeliveryKind, dueAt: Date): Promise<void> {
    const { timer } = this.#context
    if (timer.kind === kind) await this.#context.postpone(tx, dueAt)
    else {
      const { key, payload, share } = timer
      await this.#options.timers.schedule(tx, { kind, key, dueAt, payload, share })
    }
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
    this.#decided.push(...(await this.#context.run((tx) => this.#rejectOpen(tx))))
    this.#options.log.error({ err: error, send: this.#send.id }, 'delivery given up after an internal failure')
    return true
  }

  async #rejectOpen(tx: Tx): Promise<Decided[]> {
    const found = await findOpen(tx, this.#send.id, this.#context.timer.payload.destination)
    const open = found?.deliveries ?? []
    const verdict = { status: '5.3.0', text: 'The message could not be delivered because of an internal failure.' }
    const rejected = (await begin(tx, open)).map(
      (delivery): Decided => ({ delivery, decision: { state: 'rejected', verdict } }),
    )
    await this.#options.decisions.record(tx, this.#send, rejected)
    if (rejected.length < open.length) await this.#context.postpone(tx, soon(BUSY_RETRY_MS))
    return rejected
  }

  /** Once, when the first delivery begins: an attempt that ends before that is made again elsewhere. */
  #observeStart(): void {
    if (this.#started) return
    this.#started = true
    const route = this.#route.name
    const unknown = this.#deliveries.filter(({ state }) => state === 'handing_over').length
    if (unknown > 0 && !this.#route.repeatable) unknownOutcomes.inc(unknown)
    if (this.#deliveries.some(({ attempts }) => attempts === 0)) {
      firstAttemptDelay.observe({ route }, Math.max(0, Date.now() - this.#send.acceptedAt.getTime()) / 1_000)
    }
  }

  /** One wide log line per attempt: ids and statuses, never an address or a server's words, which may quote one. */
  #logAttempt(ms: number): void {
    const route = this.#route.name
    attemptSeconds.observe({ route }, ms / 1_000)
    const provider = providerOf(this.#context.timer.payload.destination)
    for (const { decision } of this.#decided) {
      deliveryDecisions.inc({ route, outcome: decision.state })
      if (route === 'outside') providerOutcomes.inc({ provider, outcome: decision.state })
    }
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
        deliveries: this.#decided.map(({ delivery, decision }) => ({
          id: delivery.id,
          attempt: delivery.attempts,
          outcome: decision.state,
          status: decision.verdict.status,
          mta: decision.verdict.mta,
        })),
        undecided: this.#deliveries.length - this.#decided.length,
      },
      'delivery attempt',
    )
  }
}

/** Between which domains the mail of a timer goes. */
export function placeOf({ destination, sender_domain: senderDomain }: DeliveryTarget): Place {
  return { destination, senderDomain }
}

function earliest(decided: readonly Decided[]): Date | undefined {
  const times = decided.flatMap(({ decision }) => (decision.state === 'deferred' ? [decision.retryAt.getTime()] : []))
  return times.length > 0 ? new Date(Math.min(...times)) : undefined
}

/** A time after about this wait, spread so that what failed together is not retried together. */
export function soon(ms: number): Date {
  return new Date(Date.now() + ms * (0.5 + Math.random()))
}
