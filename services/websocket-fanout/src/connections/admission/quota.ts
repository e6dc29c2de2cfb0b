import { LIMITS } from '@restante/contracts/vocabulary'
import { REDIS_DISCONNECT_MS, type RedisAddress, redisError, redisTls } from '@restante/service/connections'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Redis } from 'ioredis'

/** A lease that is not renewed belonged to an instance that died. */
const LEASE_MS = 90_000
const RENEW_MS = 30_000

/** Takes a slot unless all are taken; expired leases count as free slots. */
const ACQUIRE = `
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[1])
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('zadd', KEYS[1], ARGV[2], ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[5])
return 1`

/**
 * Counts the open streams of an organization over all instances, as leases in Redis. When Redis is down, streams are
 * opened all the same and each instance counts its own: availability over metering.
 */
export class StreamQuota implements Component {
  readonly name = 'stream quota'
  readonly #redis: Redis
  readonly #prefix: string
  readonly #log: Logger
  readonly #held = new Map<string, string>()
  #renewing: NodeJS.Timeout | undefined

  constructor(options: RedisAddress & { prefix: string; log: Logger }) {
    this.#prefix = options.prefix
    this.#log = options.log
    this.#redis = new Redis(options.url, {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      commandTimeout: 500,
      disconnectTimeout: REDIS_DISCONNECT_MS,
      ...redisTls(options),
    })
    this.#redis.on('error', (error) => this.#log.debug({ reason: redisError(options.url, error).message }, 'redis'))
  }

  /** Does not wait for Redis: until it answers, streams are counted locally. */
  async start(): Promise<void> {
    this.#redis.connect().catch(() => {})
    this.#renewing = setInterval(() => void this.#renew(), RENEW_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#renewing)
    await Promise.all([...this.#held.keys()].map((id) => this.release(id)))
    this.#redis.disconnect()
  }

  /** @param localCount number of the organization's streams on this instance, used when Redis does not answer. */
  async acquire(organizationId: string, connectionId: string, localCount: number): Promise<boolean> {
    const limit = LIMITS.stream.connectionsPerOrganization
    const now = Date.now()
    try {
      const taken = await this.#redis.eval(
        ACQUIRE,
        1,
        this.#key(organizationId),
        now,
        now + LEASE_MS,
        connectionId,
        limit,
        LEASE_MS,
      )
      if (taken !== 1) return false
    } catch (error) {
      this.#log.warn({ err: error }, 'stream quota: redis unavailable, counting streams locally')
      if (localCount >= limit) return false
    }
    this.#held.set(connectionId, organizationId)
    return true
  }

  async release(connectionId: string): Promise<void> {
    const organizationId = this.#held.get(connectionId)
    if (organizationId === undefined) return
    this.#held.delete(connectionId)
    // A lease that cannot be released now expires.
    await this.#redis.zrem(this.#key(organizationId), connectionId).catch(() => {})
  }

  async #renew(): Promise<void> {
    const until = Date.now() + LEASE_MS
    const pipeline = this.#redis.pipeline()
    for (const [connectionId, organizationId] of this.#held) {
      pipeline.zadd(this.#key(organizationId), until, connectionId).pexpire(this.#key(organizationId), LEASE_MS)
    }
    await pipeline.exec().catch((error: unknown) => this.#log.warn({ err: error }, 'stream lease renewal failed'))
  }

  #key(organizationId: string): string {
    return `${this.#prefix}:streams:${organizationId}`
  }
}
