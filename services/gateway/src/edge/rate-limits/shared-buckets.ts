import { OptionalRedis, type RedisAddress } from '@restante/service/connections'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'
import type { Answer, Demand, Demands } from './buckets.ts'
import { answerOf, scriptArguments, TAKE_TOKENS } from './script.ts'

const shared = new Gauge({
  name: 'restante_rate_limits_shared',
  help: '1 while rate limits are counted for all gateways together, 0 while each counts for itself',
})

export interface SharedBucketsOptions extends RedisAddress {
  readonly log: Logger
}

/**
 * The token buckets that all gateways share, in Redis. After a failure, requests do not wait for Redis until it answers
 * again.
 */
export class SharedBuckets {
  readonly #redis: OptionalRedis

  constructor({ url, trust, log }: SharedBucketsOptions) {
    const scripts = { takeTokens: { lua: TAKE_TOKENS } }
    const onChange = (available: boolean): void => shared.set(available ? 1 : 0)
    this.#redis = new OptionalRedis({ url, trust, use: 'rate limits', scripts, onChange, log })
  }

  get available(): boolean {
    return this.#redis.available
  }

  /** Starts to connect, and does not wait for Redis. */
  connect(): void {
    this.#redis.connect()
  }

  disconnect(): void {
    this.#redis.disconnect()
  }

  /** One round trip for all of them. @throws when it did not answer in time; what it has counted stays counted. */
  take<D extends Demand>(groups: readonly Demands<D>[]): Promise<Answer<D>[]> {
    return this.#redis.run((redis) => {
      const answers = groups.map(async (demands) =>
        answerOf(demands, await redis.takeTokens(...scriptArguments(demands))),
      )
      return Promise.all(answers)
    })
  }
}
