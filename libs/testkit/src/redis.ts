import { Redis } from 'ioredis'
import { engines } from './engines.ts'
import { randomName } from './random.ts'

export interface TestRedis {
  readonly url: string
  /** `REDIS_PREFIX` of every process of the suite. */
  readonly prefix: string
  readonly client: Redis
  /**
   * The effect of a flushed Redis on this suite, without affecting other users of it. @returns how many keys there
   * were.
   */
  deleteKeys(): Promise<number>
  /** Deletes the keys and closes the connection. */
  close(): Promise<void>
}

/** The Redis of the tests, and a prefix of this suite's own. */
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
