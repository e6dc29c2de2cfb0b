import type { Component, Logger, Transactional } from '@restante/service'
import { Attempts, type Handler, type WorkOptions } from './attempt.ts'
import { Poller } from './poller.ts'
import { Queues, type TimerJob } from './queues.ts'
import { Schedule } from './schedule.ts'

export interface TimersOptions {
  readonly db: Transactional
  /** The Redis of the queues (`noeviction`) and what stands in front of the keys; one prefix per service. */
  readonly redis: { readonly url: string; readonly prefix: string }
  readonly log: Logger
  /** How often due timers are looked for. Default 250. */
  readonly pollMs?: number
  /** How long a timer that the queue has lost is waited for: what a flushed Redis costs. Default 10,000. */
  readonly queueLeaseMs?: number
  /** How long a shutdown waits for attempts that run. Default 10,000. */
  readonly drainMs?: number
}

interface Work {
  readonly concurrency: number
  readonly make: (job: TimerJob, stopping: AbortSignal) => Promise<void>
}

/** A handler that was told to end gets this long to do so before its connections are taken away. */
const ABORT_GRACE_MS = 1_000

/**
 * Timers of one service. PostgreSQL says when: a timer is a row, scheduled in the transaction of what it belongs to.
 * BullMQ says where: due timers become immediate jobs. `Kinds` maps each kind to the shape of its payload; a kind's name
 * has no colon.
 */
export class Timers<Kinds extends object> extends Schedule<Kinds> implements Component {
  readonly name = 'timers'
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

  /** Looks for due timers at once instead of at the next tick. */
  poke(): void {
    this.#poller?.poke()
  }

  /** Says who does the work of a kind. To be called before `start`; other kinds are left to other processes. */
  work<Kind extends keyof Kinds & string>(
    kind: Kind,
    options: WorkOptions<Kinds[Kind]>,
    handler: Handler<Kinds[Kind]>,
  ): void {
    if (this.#works.has(kind)) throw new Error(`Timers of kind ${kind} have a handler already.`)
    const attempts = new Attempts(this.#options.db, this.#options.log, options, handler)
    this.#works.set(kind, {
      concurrency: options.concurrency,
      make: (job, stopping) => attempts.make({ ...job, kind }, stopping),
    })
  }

  /** Begins to work. Does not wait for Redis: until that answers, due timers stay in the table. */
  async start(): Promise<void> {
    const { db, redis, log } = this.#options
    if (this.#works.size === 0) return
    const queues = new Queues({ ...redis, log })
    for (const [kind, { concurrency, make }] of this.#works)
      queues.open(kind, concurrency, (job) => make(job, this.#stopping.signal))
    const backlog = new Map([...this.#works].map(([kind, { concurrency }]) => [kind, Math.max(50, concurrency * 10)]))
    const { pollMs = 250, queueLeaseMs = 10_000 } = this.#options
    this.#queues = queues
    this.#poller = new Poller({ db, queues, log, pollMs, queueLeaseMs, backlog })
    this.#poller.start()
  }

  /**
   * Fails when the loop that looks for due timers has stopped. An outage of Redis only degrades: nothing is lost, work
   * is late, the metric `restante_timers_queue_up` is 0, and taking the process out of service would help nobody.
   */
  async ready(): Promise<void> {
    this.#poller?.alive()
  }

  /** Takes no more timers and lets running attempts end; what has not ended in time is aborted and made again later. */
  async stop(): Promise<void> {
    const queues = this.#queues
    if (!queues) return
    await this.#poller?.stop()
    const drained = queues.drain()
    if (!(await endsWithin(drained, this.#options.drainMs ?? 10_000))) {
      this.#stopping.abort(new Error('The process is shutting down.'))
      await endsWithin(drained, ABORT_GRACE_MS)
    }
    queues.disconnect()
  }
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  const ended = work.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([ended, expired])
  } finally {
    clearTimeout(timer)
  }
}
