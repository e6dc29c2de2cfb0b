import { randomUUID } from 'node:crypto'
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
  /** Those that wait, the first in the order of their commits. Those that have time wait for the others. */
  readonly #urgent = new Set<Waiting>()
  readonly #patient = new Set<Waiting>()
  readonly #running = new Set<Promise<void>>()
  #isOpen = false

  constructor(options: DirectStartsOptions) {
    this.#options = options
  }

  open(): void {
    this.#isOpen = true
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#urgent.size + this.#patient.size
  }

  /**
   * The lease of a timer that is being scheduled, if there is room for it after `others` of the same transaction. Those of
   * other transactions that are open now may exceed the room; they wait.
   */
  lease(others: number, { hasTime }: { readonly hasTime: boolean }): FirstLease | undefined {
    const { atOnce, mostWaiting, leaseMs } = this.#options
    const before = this.#running.size + (hasTime ? this.waiting : this.#urgent.size) + others
    return this.#isOpen && before < atOnce + mostWaiting ? { lease: randomUUID(), leaseMs } : undefined
  }

  /** Begins the attempts of timers that have just been committed with such leases. */
  begin(timers: readonly BegunTimer[]): void {
    if (!this.#isOpen) {
      void this.#giveBack(timers)
      return
    }
    const since = Date.now()
    for (const timer of timers) (timer.hasTime ? this.#patient : this.#urgent).add({ timer, since })
    this.#fillSlots()
  }

  /** Begins no more, and waits for those that run. */
  async drain(): Promise<void> {
    this.#isOpen = false
    const unbegun = [...this.#urgent, ...this.#patient].map(({ timer }) => timer)
    this.#urgent.clear()
    this.#patient.clear()
    await Promise.all([this.#giveBack(unbegun), ...this.#running])
  }

  #fillSlots(): void {
    for (const line of [this.#urgent, this.#patient]) {
      for (const next of line) {
        if (this.#running.size >= this.#options.atOnce) return
        line.delete(next)
        this.#run(next)
      }
    }
  }

  #run({ timer, since }: Waiting): void {
    const run = this.#options.begin(timer, Date.now() - since)
    this.#running.add(run)
    void run.finally(() => {
      this.#running.delete(run)
      this.#fillSlots()
    })
  }

  /** If this fails, the leases run out. */
  async #giveBack(timers: readonly BegunTimer[]): Promise<void> {
    if (timers.length === 0) return
    const leases = timers.map(({ lease }) => lease)
    await this.#options.db.query(RETURN_TIMERS, leases).catch(() => {})
  }
}
