import { randomUUID } from 'node:crypto'
import { Semaphore } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import type { FirstLease } from '../schedule.ts'
import { RETURN_TIMERS } from '../state/statements.ts'
import type { BegunTimer } from '../state/timer.ts'

export interface DirectStartsOptions {
  readonly db: Queryable
  readonly atOnce: number
  /** How many may wait for a slot. */
  readonly mostWaiting: number
  readonly leaseMs: number
  readonly begin: (timer: BegunTimer, waitedMs: number) => Promise<void>
}

interface Waiting {
  readonly timer: BegunTimer
  readonly since: number
}

/**
 * Attempts of one kind that begin with the commit of their timers. The lease is written with the timer, so that a process
 * that dies before the attempt, or finds no time for it, loses it to others as it loses any attempt.
 */
export class DirectStarts {
  readonly #options: DirectStartsOptions
  readonly #slots: Semaphore
  readonly #waiting = new Set<Waiting>()
  readonly #running = new Set<Promise<void>>()
  #isOpen = false

  constructor(options: DirectStartsOptions) {
    this.#options = options
    this.#slots = new Semaphore(options.atOnce)
  }

  open(): void {
    this.#isOpen = true
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * The lease of a timer that is being scheduled, if there is room for it after `others` of the same transaction. Those of
   * other transactions that are open now may exceed the room; they wait.
   */
  lease(others: number): FirstLease | undefined {
    const { mostWaiting, leaseMs } = this.#options
    const room = this.#slots.free + mostWaiting - this.#waiting.size
    return this.#isOpen && others < room ? { lease: randomUUID(), leaseMs } : undefined
  }

  /** Begins the attempts of timers that have just been committed with such leases. */
  begin(timers: readonly BegunTimer[]): void {
    const since = Date.now()
    if (!this.#isOpen) void this.#giveBack(timers)
    else for (const timer of timers) this.#track(this.#begin({ timer, since }))
  }

  /** Begins no more, and waits for those that run. */
  async drain(): Promise<void> {
    this.#isOpen = false
    const unbegun = [...this.#waiting].map(({ timer }) => timer)
    this.#waiting.clear()
    await Promise.all([this.#giveBack(unbegun), ...this.#running])
  }

  async #begin(one: Waiting): Promise<void> {
    this.#waiting.add(one)
    const leave = await this.#slots.take()
    try {
      if (this.#waiting.delete(one)) await this.#options.begin(one.timer, Date.now() - one.since)
    } finally {
      leave()
    }
  }

  #track(run: Promise<void>): void {
    this.#running.add(run)
    void run.finally(() => this.#running.delete(run))
  }

  /** If this fails, the leases run out. */
  async #giveBack(timers: readonly BegunTimer[]): Promise<void> {
    if (timers.length === 0) return
    const leases = timers.map(({ lease }) => lease)
    await this.#options.db.query(RETURN_TIMERS, leases).catch(() => {})
  }
}
