import { type Logger, REDIS_DISCONNECT_MS } from '@restante/service'
import { Redis } from 'ioredis'
import { Gauge } from 'prom-client'
import type { Answer, Demand, Demands } from './buckets.ts'
import { answerOf, scriptArguments, TAKE_TOKENS } from './script.ts'

const shared = new Gauge({
  name: 'gateway_rate_limits_shared',
  help: '1 while rate limits are counted for all gateways together, 0 while each counts for itself',
})

export interface SharedBucketsOptions {
  readonly url: string
  readonly log: Logger
}

/** A healthy Redis answers within a millisecond. No request waits longer for it than this. */
const ANSWER_WITHIN_MS = 100
/** How long a Redis that did not answer, or failed, is left alone. */
const PAUSE_MS = 1_000
const CONNECT_TIMEOUT_MS = 2_000

/** The token buckets that all gateways share, in Redis. After a failure nobody waits for it until it answers again. */
export class SharedBuckets {
  readonly #redis: Redis
  readonly #log: Logger
  #pausedUntil = 0
  #reported: 'up' | 'down' | undefined

  constructor({ url, log }: SharedBucketsOptions) {
    this.#log = log
    this.#redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: REDIS_DISCONNECT_MS,
      keepAlive: 10_000,
      // What could not be counted is counted elsewhere: nothing may wait for a connection, or be counted by the next.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => PAUSE_MS,
      scripts: { takeTokens: { lua: TAKE_TOKENS } },
    })
    this.#redis.on('ready', () => this.#up())
    this.#redis.on('error', (error) => this.#down(error))
    this.#redis.on('close', () => this.#down(new Error('the connection closed')))
  }

  get available(): boolean {
    return this.#redis.status === 'ready' && performance.now() >= this.#pausedUntil
  }

  /** Does not wait for Redis. */
  connect(): void {
    this.#redis.connect().catch(() => {})
  }

  disconnect(): void {
    this.#reported = 'down'
    this.#redis.disconnect()
  }

  /** One exchange for all of them. @throws when it did not answer in time; what it counted by then stays counted. */
  async take<D extends Demand>(groups: readonly Demands<D>[]): Promise<Answer<D>[]> {
    try {
      const answers = groups.map(async (demands) =>
        answerOf(demands, await this.#redis.takeTokens(...scriptArguments(demands))),
      )
      const answered = await this.#inTime(Promise.all(answers))
      this.#up()
      return answered
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
      // A connection that leads nowhere would only be noticed by TCP, after a quarter of an hour.
      this.#redis.disconnect(true)
    }
    // Behind what has arrived by then: when it was this process that was busy, the answer may be there already.
    const behindArrivals: { immediate?: NodeJS.Immediate } = {}
    const timer = setTimeout(() => {
      behindArrivals.immediate = setImmediate(giveUp)
    }, ANSWER_WITHIN_MS)
    try {
      return await Promise.race([answer, silence])
    } finally {
      clearTimeout(timer)
      clearImmediate(behindArrivals.immediate)
    }
  }

  /** Said once per outage. */
  #up(): void {
    shared.set(1)
    if (this.#reported === 'down') this.#log.info('the Redis of the rate limits answers again')
    this.#reported = 'up'
  }

  #down(error: unknown): void {
    shared.set(0)
    if (this.#reported !== 'down') {
      this.#log.warn({ err: error }, 'the Redis of the rate limits does not answer; each gateway counts for itself')
    }
    this.#reported = 'down'
  }
}
