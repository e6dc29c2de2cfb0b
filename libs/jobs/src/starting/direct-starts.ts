import { randomUUID } from 'node:crypto'
import type { Queryable } from '@restante/service/database'
import { withoutTrace } from '@restante/service/telemetry'
import { RELEASE_LEASES } from '../state/statements.ts'
import type { MakeAttempt, TimerJob } from './queues.ts'

export interface DirectStartsOptions {
  readonly db: Queryable
  readonly atOnce: number
  /** How many may wait for a slot, of those that have time and of the others. */
  readonly mostWaiting: number
  readonly make: MakeAttempt
  /** Queues timers before all that wait there. @returns those for which there is no room. */
  readonly putFirst: (jobs: readonly TimerJob[]) => Promise<readonly TimerJob[]>
  /** Polls for timers that were given back. */
  readonly poke: () => void
}

/** A timer that was scheduled with a lease. */
export interface DirectJob extends TimerJob {
  readonly hasTime: boolean
}

interface Waiting {
  readonly job: TimerJob
  readonly since: number
}

/**
 * Attempts at once of those that have time, as a share of the slots: fast ones use the whole processor with that many, and
 * with more, one that has no time would only find longer queues for the processor and the database.
 */
const SHARE_OF_PATIENT = 0.4
/** Then the queue takes over: other processes may have free slots. */
const LONGEST_WAIT_MS = 1_000
const LOOK_EVERY_MS = 250

/**
 * Makes the first attempts of one kind of timer as soon as these are committed. For the database they are in a queue: they are
 * leased, and an attempt claims its timer as one from the queue does. What a process has not begun when it dies is queued when
 * the leases run out.
 */
export class DirectStarts {
  readonly #options: DirectStartsOptions
  /** Those that wait, in the order of their commits. Those that have time wait for the others. */
  readonly #urgent = new Set<Waiting>()
  readonly #patient = new Set<Waiting>()
  readonly #running = new Set<Promise<void>>()
  #runningPatient = 0
  /** Attempts that have left their slots, and go on. */
  readonly #apart = new Set<Promise<void>>()
  /** Those that are being put into the queue. */
  readonly #leaving = new Set<Promise<void>>()
  #isOpen = false
  #handOver: NodeJS.Timeout | undefined

  constructor(options: DirectStartsOptions) {
    this.#options = options
  }

  open(): void {
    this.#isOpen = true
  }

  /**
   * The lease of a timer that is being scheduled, if there is room for it after `others` of the same transaction. What others
   * commit meanwhile may take the room: then it is given back.
   */
  lease(others: number, { hasTime }: { readonly hasTime: boolean }): string | undefined {
    const { atOnce, mostWaiting } = this.#options
    const before = this.#running.size + this.#lineOf(hasTime).size + others
    return this.#isOpen && before < atOnce + mostWaiting ? randomUUID() : undefined
  }

  /** Begins the attempts of timers that have just been committed with such leases. */
  begin(jobs: readonly DirectJob[]): void {
    if (!this.#isOpen) {
      void this.#giveBack(jobs)
      return
    }
    const since = Date.now()
    for (const { hasTime, ...job } of jobs) this.#lineOf(hasTime).add({ job, since })
    this.#fillSlots()
    void this.#giveBackFrom((line) => [...line].slice(this.#options.mostWaiting))
  }

  /** Begins no more, and waits for those that run, or leave. */
  async drain(): Promise<void> {
    this.#isOpen = false
    clearTimeout(this.#handOver)
    await Promise.all([this.#giveBackFrom((line) => [...line]), ...this.#running, ...this.#apart, ...this.#leaving])
  }

  #lineOf(hasTime: boolean): Set<Waiting> {
    return hasTime ? this.#patient : this.#urgent
  }

  #fillSlots(): void {
    for (const line of [this.#urgent, this.#patient]) {
      for (const next of line) {
        if (!this.#hasSlot(line)) break
        line.delete(next)
        this.#run(next.job, line)
      }
    }
    if (this.#urgent.size + this.#patient.size > 0) this.#handOver ??= setTimeout(this.#handOverLate, LOOK_EVERY_MS)
  }

  #hasSlot(line: Set<Waiting>): boolean {
    const { atOnce } = this.#options
    if (line === this.#patient && this.#runningPatient >= Math.ceil(atOnce * SHARE_OF_PATIENT)) return false
    return this.#running.size < atOnce
  }

  /** The attempt belongs to no work that was in progress here. */
  #run(job: TimerJob, line: Set<Waiting>): void {
    const isPatient = line === this.#patient
    if (isPatient) this.#runningPatient++
    const run = withoutTrace(() => this.#options.make(job, () => leave()))
    this.#running.add(run)
    const freeSlot = (): boolean => {
      const hadSlot = this.#running.delete(run)
      if (hadSlot && isPatient) this.#runningPatient--
      return hadSlot
    }
    const leave = (): void => {
      if (!freeSlot()) return
      this.#apart.add(run)
      this.#fillSlots()
    }
    void run.finally(() => {
      freeSlot()
      this.#apart.delete(run)
      this.#fillSlots()
    })
  }

  readonly #handOverLate = (): void => {
    const latest = Date.now() - LONGEST_WAIT_MS
    const lateOf = (line: ReadonlySet<Waiting>) => [...line].filter(({ since }) => since <= latest)
    const leaving = this.#putFirst(lateOf(this.#urgent))
    this.#leaving.add(leaving)
    void leaving.finally(() => this.#leaving.delete(leaving))
    void this.#giveBackFrom(lateOf)
    const isWaited = this.#urgent.size + this.#patient.size > 0
    this.#handOver = isWaited ? setTimeout(this.#handOverLate, LOOK_EVERY_MS) : undefined
  }

  /** They keep their leases: in the table they would wait behind all that is due, postponed timers included. */
  async #putFirst(late: readonly Waiting[]): Promise<void> {
    if (late.length === 0) return
    for (const one of late) this.#urgent.delete(one)
    const jobs = late.map(({ job }) => job)
    await this.#giveBack(await this.#options.putFirst(jobs).catch(() => jobs))
  }

  #giveBackFrom(choose: (line: ReadonlySet<Waiting>) => readonly Waiting[]): Promise<void> {
    const chosen = [this.#urgent, this.#patient].flatMap((line) => {
      const some = choose(line)
      for (const one of some) line.delete(one)
      return some
    })
    return this.#giveBack(chosen.map(({ job }) => job))
  }

  /** If this fails, the leases run out. */
  async #giveBack(jobs: readonly TimerJob[]): Promise<void> {
    if (jobs.length === 0) return
    const ids = jobs.map(({ id }) => id)
    const leases = jobs.map(({ lease }) => lease)
    await this.#options.db.query(RELEASE_LEASES, ids, leases).then(this.#options.poke, () => {})
  }
}
