import { withTimeLimit } from '@restante/service/concurrency'
import { type Queryable, retryThroughOutage, type Transactional, type Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { AttemptsExhaustedError, LeaseLostError } from '../state/errors.ts'
import { type ClaimedTimer, COMPLETE_TIMER, LOCK_TIMER, POSTPONE_TIMER, RENEW_LEASE } from '../state/statements.ts'
import { attemptSeconds, attemptsEnded, startDelay } from '../state/telemetry.ts'
import type { Timer } from '../state/timer.ts'
import { Claims } from './claims.ts'
import { Deferrals } from './deferrals.ts'
import { SharedEffect } from './shared-effect.ts'

export interface WorkOptions<Payload> {
  /** Concurrent attempts of this kind in this process that come from the queue. */
  readonly concurrency: number
  /**
   * Number of shares among which due timers are leased in rotation, so that a long queue of one does not delay the
   * others; default 1. A timer must be scheduled with a lower `share` than that, or it never runs.
   */
  readonly shares?: number
  /**
   * Concurrent attempts of timers that this process schedules for now, which begin with their commit: without the queue and what
   * it costs. Others take the queue: those that are too many or wait too long, and later attempts. Neither waits for the other.
   * Default 0.
   */
  readonly direct?: number
  /**
   * Time limit of an attempt, during which its lease is renewed. Afterwards another attempt begins, and the effect of
   * this one is refused.
   */
  readonly attemptMs: number
  /** How long until the timers of a dead process are retried. Default 10 s. */
  readonly leaseMs?: number
  /** When a failed attempt (1, 2, ...) is retried, or null to give the timer up. */
  readonly retry: (attempt: number, error: unknown) => Date | null
  /**
   * Most attempts that are begun. It also bounds attempts that die with their process and therefore never reach
   * `retry`.
   */
  readonly maxAttempts?: number
  /** Called when a timer is given up, in the transaction that deletes it. */
  readonly givenUp?: (tx: Tx, timer: Timer<Payload>, error: unknown) => Promise<void>
}

/** One attempt as its handler sees it. */
export interface AttemptContext<Payload> {
  readonly timer: Timer<Payload>
  /** Aborted when the lease runs out or a shutdown stops waiting. For outside work, such as an HTTP request. */
  readonly signal: AbortSignal
  /**
   * Commits the effect of the attempt, once: `effect` runs in a transaction that has locked the timer, and that deletes
   * the timer unless `effect` postponed or rescheduled it. A handler that never calls `run` has no effect; its timer is
   * deleted when it returns. The transaction is retried through an outage of the database as long as the attempt has
   * time, so `effect` may be called more than once.
   * @throws LeaseLostError before `effect` is called, when the attempt has lost its lease.
   */
  run<T>(effect: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Commits the effect of the attempt as `run` does, in a transaction with those of other attempts that end at the same
   * time. It completes the timers that the effect does not postpone.
   * @throws LeaseLostError as `run` does.
   */
  share<Item>(effect: SharedEffect<Item>, item: Item): Promise<void>
  /**
   * Instead of an effect: schedules another attempt, with a statement that is shared with other attempts.
   * @throws LeaseLostError as `run` does.
   */
  defer(dueAt: Date): Promise<void>
  /**
   * Called inside `run`, or by a shared effect: schedules another attempt instead of completing the timer. The attempts so far stay counted.
   */
  postpone(tx: Tx, dueAt: Date, payload?: Payload): Promise<void>
  /**
   * Lets another attempt begin in the place of this one, which goes on. The caller bounds how many attempts of the process
   * do so at a time.
   */
  leaveSlot(): void
}

export type Handler<Payload> = (attempt: AttemptContext<Payload>) => Promise<void>

const LEASE_MS = 10_000

type Outcome = 'completed' | 'retry' | 'given_up' | 'lost' | 'interrupted'

/** What ends an attempt early, and what frees its slot before its end. */
interface Surroundings {
  readonly signal: AbortSignal
  readonly stopping: AbortSignal
  readonly leaveSlot: () => void
}

/** Runs the attempts of one kind of timer. */
export class Attempts<Payload> {
  readonly #db: Transactional
  readonly #log: Logger
  readonly #options: WorkOptions<Payload>
  readonly #handler: Handler<Payload>
  readonly #leaseMs: number
  readonly #claims: Claims<Payload>
  readonly #deferrals: Deferrals
  /** Ends attempts that have no effect. */
  readonly #endings: SharedEffect<undefined>

  constructor(db: Transactional, log: Logger, options: WorkOptions<Payload>, handler: Handler<Payload>) {
    this.#db = db
    this.#log = log
    this.#options = options
    this.#leaseMs = Math.min(options.leaseMs ?? LEASE_MS, options.attemptMs)
    this.#handler = handler
    this.#claims = new Claims(db, this.#leaseMs)
    this.#deferrals = new Deferrals(db)
    this.#endings = new SharedEffect(db, async () => {})
  }

  /**
   * Runs one attempt for a job, if the job's lease is still valid. Never throws: an attempt whose outcome could not be
   * written (the database is down) is repeated when its lease has run out.
   * @param leaveSlot called when another attempt may begin in the place of this one.
   */
  async make(
    job: { id: string; lease: string; kind: string },
    stopping: AbortSignal,
    leaveSlot: () => void,
  ): Promise<void> {
    const { id, kind } = job
    try {
      const timer = await this.#claims.claim(job)
      if (!timer) {
        this.#log.debug({ timer: id, kind }, 'job skipped, its timer was cancelled, replaced or leased again')
        return
      }
      startDelay.observe({ kind }, Math.max(0, Date.now() - timer.dueAt.getTime()) / 1000)
      const end = attemptSeconds.startTimer({ kind })
      const outcome = await this.#attempt(timer, stopping, leaveSlot)
      end()
      attemptsEnded.inc({ kind, outcome })
    } catch (error) {
      attemptsEnded.inc({ kind, outcome: 'unknown' })
      this.#log.error({ err: error, timer: id, kind }, 'attempt outcome could not be written')
    }
  }

  async #attempt(timer: ClaimedTimer<Payload>, stopping: AbortSignal, leaveSlot: () => void): Promise<Outcome> {
    const { maxAttempts, attemptMs } = this.#options
    if (maxAttempts !== undefined && timer.attempt > maxAttempts)
      return this.#giveUp(timer, new AttemptsExhaustedError(maxAttempts))
    const lease = this.#keepLease(timer, stopping)
    try {
      const signals = lease.lost ? [stopping, lease.lost] : [stopping]
      return await withTimeLimit(attemptMs, signals, (signal) => this.#handle(timer, { signal, stopping, leaveSlot }))
    } finally {
      lease.stop()
    }
  }

  async #handle(timer: ClaimedTimer<Payload>, { signal, stopping, leaveSlot }: Surroundings): Promise<Outcome> {
    const conclude = <T>(effect: (tx: Tx) => Promise<T>): Promise<T> =>
      retryThroughOutage(signal, () => this.#conclude(timer, effect))
    let concluded = false
    const share = async <Item>(effect: SharedEffect<Item>, item: Item): Promise<void> => {
      await retryThroughOutage(signal, async () => {
        if (await effect.commit(timer, item)) return
        await this.#conclude(timer, (tx) => effect.apply(tx, [item]))
      })
      concluded = true
    }
    try {
      await this.#handler({
        timer,
        signal,
        run: async (effect) => {
          const result = await conclude(effect)
          concluded = true
          return result
        },
        share,
        defer: async (dueAt) => {
          await retryThroughOutage(signal, async () => {
            if (!(await this.#deferrals.defer(timer, dueAt))) await this.#postpone(this.#db, timer, dueAt)
          })
          concluded = true
        },
        postpone: (tx, dueAt, payload) => this.#postpone(tx, timer, dueAt, payload),
        leaveSlot,
      })
      if (!concluded) await share(this.#endings, undefined)
      return 'completed'
    } catch (error) {
      if (error instanceof LeaseLostError) return this.#lost(timer)
      if (concluded) {
        this.#log.error({ err: error, timer: timer.id, kind: timer.kind }, 'handler failed after its effect')
        return 'completed'
      }
      return this.#fail(timer, error, stopping)
    }
  }

  /**
   * Renews the lease of an attempt that may outlast it. Renewals are repeated, so a short outage of the database does
   * no harm.
   */
  #keepLease(
    { id, kind, lease }: ClaimedTimer<Payload>,
    stopping: AbortSignal,
  ): { lost?: AbortSignal; stop: () => void } {
    const { attemptMs } = this.#options
    const leaseMs = this.#leaseMs
    if (attemptMs <= leaseMs) return { stop: () => {} }
    const lost = new AbortController()
    const end = Date.now() + attemptMs
    const interval = setInterval(() => {
      // A handler that ignores its signal must not hold the timer forever.
      if (Date.now() >= end || stopping.aborted) return clearInterval(interval)
      this.#db.query(RENEW_LEASE, id, lease, leaseMs).then(
        ([renewed]) => renewed ?? lost.abort(new LeaseLostError(id)),
        (error: unknown) => this.#log.warn({ err: error, timer: id, kind }, 'lease renewal failed'),
      )
    }, leaseMs / 3)
    return { lost: lost.signal, stop: () => clearInterval(interval) }
  }

  /** Commits the effect and the end of the timer together. */
  #conclude<T>(timer: ClaimedTimer<Payload>, effect: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#db.transaction(async (tx) => {
      const [held] = await tx.query(LOCK_TIMER, timer.id, timer.lease)
      if (!held) throw new LeaseLostError(timer.id)
      const result = await effect(tx)
      // Deletes nothing when the effect postponed or rescheduled the timer: both change the lease.
      await tx.query(COMPLETE_TIMER, timer.id, timer.lease)
      return result
    })
  }

  async #postpone(on: Queryable, timer: ClaimedTimer<Payload>, dueAt: Date, payload?: Payload): Promise<void> {
    const text = payload === undefined ? null : JSON.stringify(payload)
    const [postponed] = await on.query(POSTPONE_TIMER, timer.id, timer.lease, dueAt.toISOString(), text)
    if (!postponed) throw new LeaseLostError(timer.id)
  }

  async #fail(timer: ClaimedTimer<Payload>, error: unknown, stopping: AbortSignal): Promise<Outcome> {
    const { id, kind, attempt } = timer
    // A handler aborted by a shutdown has not failed: the next process retries the attempt at once.
    const interrupted = stopping.aborted
    const next = interrupted ? timer.dueAt : this.#options.retry(attempt, error)
    if (next === null) return this.#giveUp(timer, error)
    const [postponed] = await this.#db.query(POSTPONE_TIMER, id, timer.lease, next.toISOString(), null)
    if (!postponed) return this.#lost(timer)
    if (interrupted) return 'interrupted'
    this.#log.warn({ err: error, timer: id, kind, attempt, next }, 'attempt failed, will be retried')
    return 'retry'
  }

  async #giveUp(timer: ClaimedTimer<Payload>, error: unknown): Promise<Outcome> {
    const { id, kind, attempt } = timer
    try {
      await this.#conclude(timer, async (tx) => this.#options.givenUp?.(tx, timer, error))
    } catch (failure) {
      if (failure instanceof LeaseLostError) return this.#lost(timer)
      throw failure
    }
    this.#log.warn({ err: error, timer: id, kind, attempt }, 'timer given up')
    return 'given_up'
  }

  #lost({ id, kind, attempt }: ClaimedTimer<Payload>): Outcome {
    this.#log.info({ timer: id, kind, attempt }, 'lease lost, effect refused')
    return 'lost'
  }
}
