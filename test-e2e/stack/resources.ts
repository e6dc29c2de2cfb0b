import path from 'node:path'
import { STORING_SERVICES } from '@restante/contracts/vocabulary'
import type { EngineUrls } from '@restante/local/engines/engines.ts'
import { root } from '@restante/local/settings.ts'
import { createDatabase, createTopics, engines, openRedis, type TestDatabase } from '@restante/testkit'
import { type ByStoringService, byStoringService } from './by-service.ts'

/** The engines of a system, with its databases, topics and keys on them. */
export interface Resources {
  readonly urls: EngineUrls
  readonly databases: ByStoringService<string>
  readonly topicPrefix: string
  readonly redisPrefix: string
  /** Deletes all of it. */
  clear(): Promise<void>
}

/** Creates databases, topics and keys for one system, on the engines of all tests. */
export async function sharedResources(): Promise<Resources> {
  const redis = openRedis()
  const [databases, topics] = await Promise.all([createDatabases(), createTopics()])
  return {
    urls: {
      DATABASE_URL: engines.databaseUrl,
      REDIS_URL: engines.redisUrl,
      KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    },
    databases: byStoringService((name) => databases[name].url),
    topicPrefix: topics.prefix,
    redisPrefix: redis.prefix,
    async clear() {
      await Promise.all(STORING_SERVICES.map((name) => databases[name].drop()))
      await topics.delete()
      await redis.close()
    },
  }
}

async function createDatabases(): Promise<ByStoringService<TestDatabase>> {
  const databases = await Promise.all(
    STORING_SERVICES.map(async (name) => [name, await createDatabase(path.join(root, 'services', name))] as const),
  )
  const found = new Map(databases)
  return byStoringService((name) => {
    const database = found.get(name)
    if (!database) throw new Error(`${name} has no database`)
    return database
  })
}
