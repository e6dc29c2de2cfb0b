import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../telemetry/logger.ts'
import { REDIS_DISCONNECT_MS, type RedisAddress, redisError, redisTls } from './redis.ts'

export interface OptionalRedisOptions extends RedisAddress {
  /** What the connection is used for, for the log. */
  readonly use: string
  /** Lua scripts by the name of the command that runs them. */
  readonly scripts: NonNullable<RedisOptions['scripts']>
  /** Called when it becomes available or unavailable. */
  readonly onChange?: (available: boolean) => void
  readonly log: Logger
}

/** A healthy Redis answers within a millisecond. No call waits longer than this. */
const ANSWER_WITHIN_MS = 100
/** How long a Redis that failed or did not answer is not called again. */
const PAUSE_MS = 1_000
const CONNECT_TIMEOUT_MS = 2_000

/**
 * A connection to a Redis that the service can do without. A call takes 100 ms at most. After a failure `available` is
 * false, and the caller uses its fallback, until Redis answers again. Commands are never queued and never retried.
 */
export class OptionalRedis {
  readonly #redis: Redis
  readonly #options: OptionalRedisOptions
  #pausedUntil = 0
  #reported: 'up' | 'down' | undefined

  constructor(options: OptionalRedisOptions) {
    this.#options = options
    this.#redis = new Redis(options.url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: REDIS_DISCONNECT_MS,
      keepAlive: 10_000,
      // A command that fails here is handled by the caller's fallback, so it must neither wait for a connection nor be
      // repeated on the next one.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => PAUSE_MS,
      scripts: options.scripts,
      ...redisTls(options),
    })
    this.#redis.on('ready', () => this.#up())
    this.#redis.on('error', (error) => this.#down(error))
    this.#redis.on('close', () => this.#down(new Error('the connection closed')))
  }

  /** Whether a call may be tried. */
  get available(): boolean {
    return this.#redis.status === 'ready' && performance.now() >= this.#pausedUntil
  }

  /** Starts connecting and returns at once. */
  connect(): void {
    this.#redis.connect().catch(() => {})
  }

  disconnect(): void {
    this.#reported = 'down'
    this.#redis.disconnect()
  }

  /**
   * Runs commands.
   * @throws Error when the answer did not come in time or was an error; the commands may have run all the same.
   */
  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      const result = await this.#inTime(work(this.#redis))
      this.#up()
      return result
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS
      this.#down(error)
      throw error
    }
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { promise: silence, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => {
      reject(new Error(`no answer for ${ANSWER_WITHIN_MS} ms`))
      // TCP would take a quarter of an hour to notice a dead connection.
      this.#redis.disconnect(true)
    }
    // Checked only after pending input was read: if this process was the busy one, the answer may have arrived already.
    const afterArrivals: { immediate?: NodeJS.Immediate } = {}
    const timer = setTimeout(() => {
      afterArrivals.immediate = setImmediate(giveUp)
    }, ANSWER_WITHIN_MS)
    try {
      return await Promise.race([answer, silence])
    } finally {
      clearTimeout(timer)
      clearImmediate(afterArrivals.immediate)
    }
  }

  /** Logged once per outage. */
  #up(): void {
    this.#options.onChange?.(true)
    const { use, log } = this.#options
    if (this.#reported === 'down') log.info({ use }, 'redis available again')
    this.#reported = 'up'
  }

  #down(error: unknown): void {
    this.#options.onChange?.(false)
    const { use, log, url } = this.#options
    if (this.#reported !== 'down')
      log.warn({ err: redisError(url, error), use }, 'redis unavailable, falling back to in-process state')
    this.#reported = 'down'
  }
}
