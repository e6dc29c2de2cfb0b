import { within } from '@restante/service/concurrency'
import { REDIS_DISCONNECT_MS, type RedisAddress, redisError, redisTls } from '@restante/service/connections'
import type { Logger } from '@restante/service/telemetry'
import { Queue, Worker } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { LeasedTimer } from '../state/statements.ts'
import { queueUp } from '../state/telemetry.ts'

/** What a job carries: the timer and its lease. Everything else is in PostgreSQL. */
export interface TimerJob {
  readonly id: string
  readonly lease: string
}

/** Makes the attempt of a job, and never throws. @param leaveSlot lets another one begin in its place while it goes on. */
export type MakeAttempt = (job: TimerJob, leaveSlot: () => void) => Promise<void>

export interface QueuesOptions extends RedisAddress {
  /** Prefix of every key. */
  readonly prefix: string
  readonly log: Logger
}

/** The Redis of the queues does not answer; timers stay where they are. */
export class QueueUnavailableError extends Error {
  constructor(reason: string) {
    super(`The Redis of the queues does not answer: ${reason}.`)
    this.name = 'QueueUnavailableError'
  }
}

/** A healthy Redis answers within a millisecond; a longer wait would delay the timers of other kinds. */
const ANSWER_WITHIN_MS = 5_000

/** Finished jobs are not needed: the timer's row has the outcome. */
const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true }

export type QueuedTimer = Pick<LeasedTimer, 'id' | 'attempt' | 'lease'>

/** Names a job after its timer, attempt and lease, so that one lease never makes two jobs. */
export function jobId({ id, attempt, lease }: QueuedTimer): string {
  return `${id}-${attempt}-${lease}`
}

/** Tracks the blocking connections that BullMQ derives from it, which would outlive a shutdown during an outage. */
class ManagedRedis extends Redis {
  readonly #copies: { readonly status: string; disconnect(): void }[] = []

  override duplicate<Override extends Partial<RedisOptions> | undefined = undefined>(override?: Override) {
    const copy = super.duplicate(override)
    this.#copies.push(copy)
    return copy
  }

  disconnectAll(): void {
    for (const connection of [...this.#copies, this]) if (connection.status !== 'end') connection.disconnect()
  }
}

/**
 * The BullMQ queues of one process: a queue and a worker per kind. They share a connection, and each worker has a
 * second one for blocking commands.
 */
export class Queues {
  readonly #redis: ManagedRedis
  readonly #prefix: string
  readonly #log: Logger
  readonly #queues = new Map<string, Queue<TimerJob>>()
  readonly #workers: Worker<TimerJob>[] = []
  readonly #running = new Set<Promise<void>>()
  readonly #connected = Promise.withResolvers<void>()
  #reported: 'up' | 'down' | undefined

  constructor(options: QueuesOptions) {
    this.#prefix = options.prefix
    this.#log = options.log
    // BullMQ retries its commands itself: with a limit here its blocking reads would fail during a restart of Redis.
    this.#redis = new ManagedRedis(options.url, {
      maxRetriesPerRequest: null,
      enableReadyCheck: true,
      // Commands of one turn of the event loop, such as those of attempts that end together, cost one system call.
      enableAutoPipelining: true,
      keepAlive: 10_000,
      disconnectTimeout: REDIS_DISCONNECT_MS,
      ...redisTls(options),
    })
    this.#redis.on('ready', () => this.#up())
    this.#redis.on('error', (error) => this.#down(redisError(options.url, error)))
    this.#redis.on('close', () => this.#down(new Error('the connection closed')))
  }

  /** Opens the queue of a kind and starts its worker. */
  open(kind: string, concurrency: number, make: MakeAttempt): void {
    const common = { connection: this.#redis, prefix: this.#prefix }
    // BullMQ reports errors such as deleted keys of a running job, or broken connections. Timers recover from all of
    // them when their leases run out.
    const ignore = (error: Error) => this.#log.debug({ err: error, kind }, 'queue error')
    const queue = new Queue<TimerJob>(kind, { ...common, skipMetasUpdate: true })
    const worker = new Worker<TimerJob>(kind, (job) => this.#track(job.data, make), {
      ...common,
      concurrency,
      // BullMQ must not rerun the job of a dead worker: the timer's lease decides when it is retried.
      maxStalledCount: 0,
      runRetryDelay: 1_000,
      // A worker that never reached Redis cannot be closed, so it is started after the first connection.
      autorun: false,
    })
    this.#connected.promise.then(() => worker.run()).catch(ignore)
    queue.on('error', ignore)
    worker.on('error', ignore)
    this.#queues.set(kind, queue)
    this.#workers.push(worker)
  }

  /** How many jobs of a kind are waiting. @throws QueueUnavailableError */
  async waiting(kind: string): Promise<number> {
    const queue = this.#queue(kind)
    return this.#answer(() => queue.getWaitingCount())
  }

  /** The ids of a kind's waiting jobs; see `jobId`. @throws QueueUnavailableError */
  async waitingJobs(kind: string): Promise<ReadonlySet<string>> {
    const queue = this.#queue(kind)
    return new Set(await this.#answer(() => queue.getRanges(['wait'], 0, -1)))
  }

  /** Adds a job for each leased timer, in the order given. @throws QueueUnavailableError: some may have been added. */
  async add(kind: string, timers: readonly QueuedTimer[]): Promise<void> {
    await this.#add(kind, timers, {})
  }

  /** Adds them before all that wait. @throws QueueUnavailableError: some may have been added. */
  async addFirst(kind: string, timers: readonly QueuedTimer[]): Promise<void> {
    await this.#add(kind, timers.toReversed(), { lifo: true })
  }

  async #add(kind: string, timers: readonly QueuedTimer[], place: { readonly lifo?: true }): Promise<void> {
    const queue = this.#queue(kind)
    const jobs = timers.map(({ id, attempt, lease }) => ({
      name: kind,
      data: { id, lease },
      opts: { ...JOB_OPTIONS, ...place, jobId: jobId({ id, attempt, lease }) },
    }))
    await this.#answer(() => queue.addBulk(jobs))
  }

  /** Accepts no more jobs and waits for running ones. */
  async drain(): Promise<void> {
    const closed = Promise.allSettled(this.#workers.map((worker) => worker.close()))
    // During an outage a worker cannot be closed. No job can arrive then either, so it is enough to wait for the
    // running ones.
    if (this.#redis.status === 'ready') await closed
    await Promise.all(this.#running)
  }

  /** Closes every connection, whatever is still running. */
  disconnect(): void {
    this.#reported = 'down'
    this.#redis.disconnectAll()
  }

  /** For BullMQ a job ends when its slot is free, for a shutdown when its attempt has ended. */
  async #track(job: TimerJob, make: MakeAttempt): Promise<void> {
    const left = Promise.withResolvers<void>()
    const attempt = make(job, left.resolve)
    this.#running.add(attempt)
    await Promise.race([attempt.finally(() => this.#running.delete(attempt)), left.promise])
  }

  #queue(kind: string): Queue<TimerJob> {
    const queue = this.#queues.get(kind)
    if (!queue) throw new Error(`No queue is open for timers of kind ${kind}.`)
    return queue
  }

  /**
   * During an outage a command would wait for Redis to come back, so none is sent; one that gets no answer is
   * abandoned.
   */
  async #answer<T>(command: () => Promise<T>): Promise<T> {
    if (this.#redis.status !== 'ready') throw new QueueUnavailableError(this.#redis.status)
    return within(ANSWER_WITHIN_MS, command(), () => {
      // TCP would take a quarter of an hour to notice a dead connection.
      this.#redis.disconnect(true)
      throw new QueueUnavailableError(`no answer for ${ANSWER_WITHIN_MS} ms`)
    })
  }

  #up(): void {
    queueUp.set(1)
    this.#connected.resolve()
    if (this.#reported === 'down') this.#log.info('queue redis available again')
    this.#reported = 'up'
  }

  /** Logged once per outage, not once per attempt to connect. */
  #down(error: Error): void {
    queueUp.set(0)
    if (this.#reported !== 'down') this.#log.warn({ err: error }, 'queue redis unavailable, timers wait in PostgreSQL')
    this.#reported = 'down'
  }
}
