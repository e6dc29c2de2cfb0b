import { Redis } from 'ioredis'
import { engines } from './engines.ts'
import { randomName } from './random.ts'

export interface TestRedis {
  readonly url: string
  /** `REDIS_PREFIX` of every process of the suite. */
  readonly prefix: string
  readonly client: Redis
  /**
   * Deletes all keys of this suite, as a flush of Redis would, without affecting other users. @returns the number of
   * keys.
   */
  deleteKeys(): Promise<number>
  /** Deletes the keys and closes the connection. */
  close(): Promise<void>
}

/** Connects to the Redis of the tests, with a prefix for this suite. */
export function openRedis(): TestRedis {
  const client = new Redis(engines.redisUrl)
  const prefix = `test-${randomName()}`
  async function deleteKeys(): Promise<number> {
    let deleted = 0
    for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      if (Array.isArray(keys) && keys.length > 0) deleted += await client.del(keys)
    }
    return deleted
  }
  return {
    url: engines.redisUrl,
    prefix,
    client,
    deleteKeys,
    async close() {
      await deleteKeys()
      client.disconnect()
    },
  }
}
