import { type AttemptContext, SharedEffect, type Timers, type WorkOptions } from '@restante/jobs'
import { Batcher, backoff } from '@restante/service/concurrency'
import type { Database, Tx } from '@restante/service/database'
import { DELIVERY_KINDS, type DeliveryKind, type DeliveryTarget, type SendTimers, SHARES } from '../../timers/kinds.ts'
import { DestinationHealth } from '../destinations/health.ts'
import { KeyedSemaphore } from '../destinations/keyed-semaphore.ts'
import { Pace } from '../destinations/pace.ts'
import { Throttles } from '../destinations/throttles.ts'
import type { SendRecord } from '../outbound/sends.ts'
import type { OpenDelivery } from '../outcome/delivery.ts'
import type { Outcome } from '../outcome/outcome.ts'
import { type Bottleneck, NotPromptError, type Route, withOutcome } from '../routes/route.ts'
import {
  Attempt,
  type AttemptOptions,
  BUSY_RETRY_MS,
  type Conclusion,
  type NextKind,
  placeOf,
  type SharedWork,
  soon,
} from './attempt.ts'
import { HELD_UNTIL, staysHeld } from './holds.ts'
import { beginAll, findAllOpen, type OpenTarget } from './store.ts'
import { type Suspensions, sharedSuspensions, suspendedSince, suspendedTimer } from './suspended.ts'

export interface AttemptsOptions extends AttemptOptions {
  readonly timers: Timers<SendTimers>
  /** `delivery-slow` takes the same route as `delivery-outside`. */
  readonly routes: Readonly<Record<Exclude<DeliveryKind, 'delivery-slow'>, Route>>
  /** Whether a message may leave: it is scanned for viruses first. Absent: no message is scanned. */
  readonly admit: ((target: DeliveryTarget) => Promise<'pass' | 'rejected' | 'busy'>) | undefined
  readonly concurrency: number
  /** Concurrent attempts at destinations that were slow or unreachable the last time. */
  readonly slowConcurrency: number
  readonly perDestination: number
  /** Messages to one destination; undefined: any number. */
  readonly perMinute: number | undefined
}

type Context = AttemptContext<DeliveryTarget>

/** Servers may take their time with each recipient of a message (RFC 5321 4.5.3.2). */
const ATTEMPT_MS = 15 * 60_000
/** How long a worker waits for a slot at a busy destination before it does other work. */
const SLOT_WAIT_MS = 2_000
/** One organization may occupy so many workers, as a share of `concurrency`, first attempts and the queue taken together. */
const SHARE_OF_WORKERS = 3 / 4
/** Wait for a scan that another attempt at the same message has begun. */
const SCAN_RETRY_MS = 300
/** A destination that takes longer for a session, or for a recipient, continues among the slow ones. */
const PROMPT_SESSION_MS = 5_000
const PROMPT_RECIPIENT_MS = 10_000
/** Longest pause between two attempts to reach a destination. */
const LONGEST_PAUSE_MS = 30_000
/** Most attempts that one statement, or one transaction, is about; and how many of these there are at a time. */
const TOGETHER = { maxItems: 100, concurrency: 2 }
/** Delay of retries after failures of the own infrastructure. */
const RETRY = { firstMs: 1_000, longestMs: 10_000 }

/**
 * Makes the delivery attempts. Each outcome is committed before the next recipient's server is contacted; the timer is
 * postponed or deleted in the transaction that records the last one. Destinations that do not answer promptly have
 * timers of a kind of their own, and so workers of their own: they do not delay the others.
 */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #slots: KeyedSemaphore
  /** Attempts of each share of organizations, without those among the slow destinations. */
  readonly #shares = new KeyedSemaphore({ mostWaiting: 0, maxWaitMs: 0 })
  /** Attempts that go on without a worker. */
  #apart = 0
  readonly #health: DestinationHealth
  readonly #throttles: Throttles
  readonly #pace: Pace
  readonly #targets: Batcher<DeliveryTarget, OpenTarget | undefined>
  readonly #shared: SharedWork
  readonly #suspensions: Suspensions

  constructor(options: AttemptsOptions) {
    const { db, concurrency, perDestination, perMinute, retry } = options
    this.#options = options
    // Half of the workers of the queue, or of the direct slots: all that wait may be in one of them.
    this.#slots = new KeyedSemaphore({ mostWaiting: Math.ceil(concurrency / 2), maxWaitMs: SLOT_WAIT_MS })
    this.#health = new DestinationHealth(Math.min(retry.firstMs / 2, LONGEST_PAUSE_MS))
    this.#throttles = new Throttles(perDestination)
    this.#pace = new Pace(perMinute)
    this.#targets = new Batcher({ ...TOGETHER, work: (targets) => findAllOpen(db, targets) })
    this.#shared = sharedWork(options)
    this.#suspensions = sharedSuspensions(options, TOGETHER)
  }

  /** Registers the handlers of the timers. To be called before they start. */
  register(): void {
    const { concurrency, slowConcurrency, timers } = this.#options
    for (const kind of DELIVERY_KINDS) {
      const work: WorkOptions<DeliveryTarget> = {
        ...(kind === 'delivery-slow' ? { concurrency: slowConcurrency } : { concurrency, direct: concurrency }),
        shares: SHARES,
        attemptMs: ATTEMPT_MS,
        // Reached only after failures of the own infrastructure, so it is retried without limit.
        retry: (attempt) => soon(backoff(attempt, RETRY)),
      }
      timers.work(kind, work, (context) => this.#make(kind, context))
    }
  }

  async #make(kind: DeliveryKind, context: Context): Promise<void> {
    const admission = (await this.#options.admit?.(context.timer.payload)) ?? 'pass'
    if (admission === 'rejected') return
    if (admission === 'busy') {
      await context.run((tx) => context.postpone(tx, soon(SCAN_RETRY_MS)))
      return
    }
    const route = this.#options.routes[kind === 'delivery-slow' ? 'delivery-outside' : kind]
    const bottleneck = route.bottleneck(placeOf(context.timer.payload))
    if (bottleneck === undefined) await this.#attempt(context, route, () => kind)
    else await this.#limited(kind, context, route, bottleneck)
  }

  /** An attempt that is one of few at its bottleneck. */
  async #limited(kind: DeliveryKind, context: Context, route: Route, bottleneck: Bottleneck): Promise<void> {
    const { key, concurrency } = bottleneck
    if (await this.#avoids(kind, context, route, key)) return
    const free = await this.#slots.take(key, this.#throttles.limit(key, concurrency))
    if (!free) {
      await context.run((tx) => context.postpone(tx, soon(BUSY_RETRY_MS)))
      return
    }
    try {
      // While this waited for a slot, the attempts before it may have failed.
      if (await this.#avoids(kind, context, route, key)) return
      const ended = this.#health.begin(key)
      const attempt =
        kind === 'delivery-slow'
          ? this.#attempt(context, route, this.#learner(bottleneck), { bottleneck })
          : this.#inShare(context, route, bottleneck)
      await attempt.finally(ended)
    } finally {
      free()
    }
  }

  /** Suspends what is due where nothing could be reached, and leaves what is slow to the other workers. */
  async #avoids(kind: DeliveryKind, context: Context, route: Route, key: string): Promise<boolean> {
    const suspension = this.#health.suspension(key, suspendedSince(context.timer))
    if (suspension?.kind === 'wait')
      await context.share(this.#suspensions, suspendedTimer(context.timer, suspension.until))
    else if (suspension) await this.#attempt(context, withOutcome(route, suspension.outcome), () => 'delivery-slow')
    else if (kind !== 'delivery-slow' && this.#health.isSlow(key)) await this.#moveToSlow(context)
    else return false
    return true
  }

  /**
   * An organization occupies fewer workers than there are for first attempts, or for those from the queue: the servers
   * that it writes to may be silent for minutes. What is more goes to the workers of slow destinations.
   */
  async #inShare(context: Context, route: Route, bottleneck: Bottleneck): Promise<void> {
    const most = Math.max(1, Math.floor(this.#options.concurrency * SHARE_OF_WORKERS))
    const free = await this.#shares.take(String(context.timer.share), most)
    if (!free) {
      await this.#moveToSlow(context)
      return
    }
    await this.#promptly(context, route, bottleneck).finally(free)
  }

  async #promptly(context: Context, route: Route, bottleneck: Bottleneck): Promise<void> {
    const { key } = bottleneck
    const patience = new AbortController()
    let ended: (() => void) | undefined
    const late = setTimeout(() => {
      patience.abort(new NotPromptError(key))
      ended = this.#goOnApart(context)
    }, PROMPT_SESSION_MS)
    try {
      await this.#attempt(context, route, this.#learner(bottleneck), { bottleneck, patience: patience.signal })
    } catch (error) {
      if (!(error instanceof NotPromptError)) throw error
      this.#health.tooSlow(key)
      await this.#moveToSlow(context)
    } finally {
      clearTimeout(late)
      ended?.()
    }
  }

  /**
   * A session that takes long is not interrupted: the server may have the message. Its worker goes to another attempt
   * instead, as far as there are not too many sessions that go on without one. @returns what is to be called at its end.
   */
  #goOnApart(context: Context): (() => void) | undefined {
    if (this.#apart >= this.#options.slowConcurrency) return undefined
    this.#apart++
    context.leaveSlot()
    return () => {
      this.#apart--
    }
  }

  /** No attempt was made, so none is counted. */
  async #moveToSlow(context: Context): Promise<void> {
    const { key, payload, share } = context.timer
    await context.run((tx) => this.#options.timers.schedule(tx, { kind: 'delivery-slow', key, payload, share }))
  }

  async #attempt(
    context: Context,
    route: Route,
    nextKind: NextKind,
    { bottleneck, patience }: { readonly bottleneck?: Bottleneck; readonly patience?: AbortSignal } = {},
  ): Promise<void> {
    const { send_id, destination } = context.timer.payload
    const found = await this.#targets.add({ send_id, destination })
    if (!found) return
    if (found.held) {
      await this.#holdBack(context, found.send)
      return
    }
    const at = await this.#tooEarly(found, bottleneck)
    const options = { ...this.#options, shared: this.#shared }
    if (at === undefined) await new Attempt(options, route, context, found, nextKind).make(patience)
    else await context.run((tx) => context.postpone(tx, at))
  }

  /** When an attempt is to be made, if the volume of today or the pace at the destination does not allow it now. */
  async #tooEarly({ deliveries }: OpenTarget, bottleneck: Bottleneck | undefined): Promise<Date | undefined> {
    if (!bottleneck || bottleneck.isRelay) return undefined
    const { db, warmUp } = this.#options
    const nextDay = await warmUp?.closedUntil(db)
    if (nextDay) return nextDay
    const at = this.#pace.take(bottleneck.key, deliveries.length)
    return at === undefined ? undefined : new Date(at)
  }

  /** What the outcomes of an attempt say about where it was made. */
  #learner({ key, concurrency }: Bottleneck): NextKind {
    return (outcomes, ms) => {
      const [first] = outcomes
      if (first === undefined) return this.#kindFor(key)
      const isSilent = ({ kind, verdict }: Outcome) => kind === 'deferred' && verdict.mta === undefined
      const promptly = ms < PROMPT_RECIPIENT_MS * outcomes.length
      if (outcomes.every(isSilent)) this.#health.unreached(key, first, ms)
      else this.#health.answered(key, promptly)
      this.#throttles.learn(key, outcomes, concurrency)
      return this.#kindFor(key)
    }
  }

  #kindFor(key: string): DeliveryKind {
    return this.#health.isSlow(key) ? 'delivery-slow' : 'delivery-outside'
  }

  /** Postpones an attempt until the operator releases it; at once, if that has happened in the meantime. */
  async #holdBack(context: Context, send: SendRecord): Promise<void> {
    const { destination } = context.timer.payload
    await context.run(async (tx) => {
      const held = await staysHeld(tx, ownerOf(send), destination)
      await context.postpone(tx, held ? HELD_UNTIL : new Date())
    })
  }
}

/** Attempts begin and end together with others of the same moment: one commit for all of them. */
function sharedWork({ db, decisions }: Pick<AttemptsOptions, 'decisions'> & { db: Database }): SharedWork {
  const beginnings = new Batcher({
    ...TOGETHER,
    work: (deliveries: readonly OpenDelivery[]) => beginAll(db, deliveries),
  })
  const conclude = async (tx: Tx, conclusions: readonly Conclusion[]) => {
    await decisions.recordAll(tx, conclusions)
    for (const { postpone } of conclusions) await postpone?.(tx)
  }
  return {
    begin: (delivery) => beginnings.add(delivery),
    conclusions: new SharedEffect(db, conclude, TOGETHER),
  }
}

/** The installation's own mail has no owner. */
function ownerOf({ origin }: SendRecord): string | null {
  return origin.kind === 'inbox' ? origin.organizationId : null
}
