import { within } from '@restante/service/concurrency'
import type { RedisAddress } from '@restante/service/connections'
import type { Transactional } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { isDue, type LeasedFirst, QUEUE_LEASE_MS, Schedule } from './schedule.ts'
import { DirectStarts } from './starting/direct-starts.ts'
import { Poller } from './starting/poller.ts'
import { type MakeAttempt, Queues, type TimerJob } from './starting/queues.ts'
import { COUNT_UNBEGUN } from './state/statements.ts'
import { countFromZero, queueUp } from './state/telemetry.ts'
import type { ScheduledTimer } from './state/timer.ts'
import { Attempts, type Handler, type WorkOptions } from './working/attempt.ts'

export interface TimersOptions {
  readonly db: Transactional
  /** The Redis of the queues (`noeviction`) and the prefix of its keys; one prefix per service. */
  readonly redis: RedisAddress & { readonly prefix: string }
  readonly log: Logger
  /** Poll interval for due timers. Default 250. */
  readonly pollMs?: number
  /**
   * How long until a timer that the queue has lost is queued again, for example after Redis was flushed. Default
   * 10,000.
   */
  readonly queueLeaseMs?: number
  /** How long a shutdown waits for running attempts. Default 10,000. */
  readonly drainMs?: number
}

interface Work {
  readonly concurrency: number
  readonly shares: number
  readonly make: MakeAttempt
  readonly direct: DirectStarts | undefined
}

/** How long an aborted handler may take to end before the connections are closed. */
const ABORT_GRACE_MS = 1_000

/**
 * The timers of one service. PostgreSQL decides when a timer runs: it is a row, scheduled in the transaction of the
 * state that it belongs to. BullMQ decides where: due timers become jobs that are ready at once, unless their attempts begin
 * with the commit. `Kinds` maps each kind to the shape of its payload; the name of a kind must not contain a colon.
 */
export class Timers<Kinds extends object> extends Schedule<Kinds> implements Component {
  readonly name = 'timers'
  readonly stage = 'work'
  readonly #options: TimersOptions
  readonly #works = new Map<string, Work>()
  readonly #stopping = new AbortController()
  #queues: Queues | undefined
  #poller: Poller | undefined

  constructor(options: TimersOptions) {
    super()
    this.#options = options
  }

  protected override onDue(): void {
    this.poke()
  }

  protected override firstLeases(timers: readonly ScheduledTimer<Kinds>[]): (string | null)[] {
    const given = new Map<DirectStarts, number>()
    return timers.map((timer) => {
      const direct = this.#works.get(timer.kind)?.direct
      if (!direct || !isDue(timer)) return null
      const others = given.get(direct) ?? 0
      const lease = direct.lease(others, { hasTime: timer.hasTime === true })
      if (lease !== undefined) given.set(direct, others + 1)
      return lease ?? null
    })
  }

  protected override onLeased(timers: readonly LeasedFirst[]): void {
    for (const [kind, jobs] of Map.groupBy(timers, (timer) => timer.kind)) this.#works.get(kind)?.direct?.begin(jobs)
  }

  /** Polls for due timers at once instead of at the next tick. */
  poke(): void {
    this.#poller?.poke()
  }

  /**
   * Registers the handler of a kind. Must be called before `start`. Timers of other kinds are left to other processes.
   */
  work<Kind extends keyof Kinds & string>(
    kind: Kind,
    options: WorkOptions<Kinds[Kind]>,
    handler: Handler<Kinds[Kind]>,
  ): void {
    if (this.#works.has(kind)) throw new Error(`Timers of kind ${kind} have a handler already.`)
    countFromZero(kind)
    const { db, log } = this.#options
    const { concurrency, shares = 1, direct = 0 } = options
    const attempts = new Attempts(db, log, options, handler)
    const make: MakeAttempt = (job, leaveSlot) => attempts.make({ ...job, kind }, this.#stopping.signal, leaveSlot)
    // In the queue the shares take turns, in a line they would not.
    const mostWaiting = shares === 1 ? mostQueued(direct) : 0
    const putFirst = async (jobs: readonly TimerJob[]) => (await this.#poller?.putFirst(kind, jobs)) ?? jobs
    const starts = { db, make, mostWaiting, atOnce: direct, putFirst, poke: () => this.poke() }
    this.#works.set(kind, { concurrency, shares, make, direct: direct > 0 ? new DirectStarts(starts) : undefined })
  }

  /**
   * How many timers of a kind are due and wait for their first attempt, in the table or in the queue; at most `most`. Postponed
   * ones do not count.
   */
  async unbegun(kind: keyof Kinds & string, most: number): Promise<number> {
    const [found] = await this.#options.db.query(COUNT_UNBEGUN, kind, most)
    return found?.count ?? 0
  }

  /** Starts working. It does not wait for Redis: until Redis answers, due timers stay in the table. */
  async start(): Promise<void> {
    const { db, redis, log } = this.#options
    if (this.#works.size === 0) return
    queueUp.set(0)
    const queues = new Queues({ ...redis, log })
    for (const [kind, { concurrency, make }] of this.#works) queues.open(kind, concurrency, make)
    const backlog = new Map([...this.#works].map(([kind, work]) => [kind, backlogOf(work)]))
    const shares = new Map([...this.#works].map(([kind, work]) => [kind, work.shares]))
    const { pollMs = 250, queueLeaseMs = QUEUE_LEASE_MS } = this.#options
    this.#queues = queues
    this.#poller = new Poller({ db, queues, log, pollMs, queueLeaseMs, backlog, shares })
    this.#poller.start()
    for (const { direct } of this.#works.values()) direct?.open()
  }

  /**
   * Rejects when the polling loop has stopped. An outage of Redis only degrades the service: no timer is lost, but
   * timers run late, and the metric `restante_timers_queue_up` is 0. Making the process unready would not help.
   */
  async ready(): Promise<void> {
    this.#poller?.alive()
  }

  /**
   * Accepts no more timers and waits for running attempts; one that has not ended in time is aborted and retried later.
   */
  async stop(): Promise<void> {
    const queues = this.#queues
    if (!queues) return
    // Before the poller, whose last round may take a while: no attempt begins meanwhile.
    const direct = [...this.#works.values()].map((work) => work.direct?.drain())
    const drained = Promise.all([queues.drain(), ...direct])
    await this.#poller?.stop()
    if (!(await endsWithin(drained, this.#options.drainMs ?? 10_000))) {
      this.#stopping.abort(new Error('The process is shutting down.'))
      await endsWithin(drained, ABORT_GRACE_MS)
    }
    queues.disconnect()
  }
}

/** What is queued already keeps its place, so a kind with several shares has a short queue. */
function backlogOf({ concurrency, shares }: Work): number {
  return shares > 1 ? Math.max(50, concurrency * 2) : mostQueued(concurrency)
}

function mostQueued(concurrency: number): number {
  return Math.max(50, concurrency * 10)
}

function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return within(ms, ended, () => false)
}
