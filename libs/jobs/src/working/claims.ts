import { Batcher } from '@restante/service/concurrency'
import type { Transactional } from '@restante/service/database'
import type { TimerJob } from '../starting/queues.ts'
import { type ClaimedTimer, claimTimer, claimTimers } from '../state/statements.ts'

/** Most timers that one statement claims. */
const TOGETHER = 50
/** Statements in progress. More of them would each be about fewer timers. */
const AT_ONCE = 2

/** Claims timers for attempts: those whose jobs arrive while a statement runs share the next one. */
export class Claims<Payload> {
  readonly #db: Transactional
  readonly #leaseMs: number
  readonly #one = claimTimer<Payload>()
  readonly #many = claimTimers<Payload>()
  readonly #together: Batcher<TimerJob, ClaimedTimer<Payload> | undefined>

  /** @param leaseMs how long a claimed timer is leased */
  constructor(db: Transactional, leaseMs: number) {
    this.#db = db
    this.#leaseMs = leaseMs
    this.#together = new Batcher({
      maxItems: TOGETHER,
      concurrency: AT_ONCE,
      work: (jobs) => this.#claimTogether(jobs),
    })
  }

  /** Begins the attempt of a job. @returns undefined when its timer was cancelled, replaced or leased again. */
  async claim(job: TimerJob): Promise<ClaimedTimer<Payload> | undefined> {
    const claimed = await this.#together.add(job)
    if (claimed) return claimed
    // Another transaction may have had the row locked, which a statement about many rows must not wait for.
    const [timer] = await this.#db.query(this.#one, job.id, job.lease, this.#leaseMs)
    return timer
  }

  async #claimTogether(jobs: readonly TimerJob[]): Promise<(ClaimedTimer<Payload> | undefined)[]> {
    const ids = jobs.map(({ id }) => id)
    const leases = jobs.map(({ lease }) => lease)
    const claimed = new Map((await this.#db.query(this.#many, ids, leases, this.#leaseMs)).map((one) => [one.id, one]))
    return jobs.map(({ id }) => {
      const timer = claimed.get(id)
      // A job that was delivered twice begins one attempt.
      claimed.delete(id)
      return timer
    })
  }
}
