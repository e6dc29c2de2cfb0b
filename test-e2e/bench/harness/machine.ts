import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, type as systemType, totalmem } from 'node:os'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { engines, openRedis } from '@restante/testkit'
import pg from 'pg'

/** The machine that figures were measured on. They mean nothing without it. */
export interface Machine {
  readonly system: string
  readonly cpu: string
  readonly cores: number
  readonly memoryMb: number
  /** Load average of the last minute. Above 0.5 or so, the machine was not idle. */
  readonly loadBefore: number
  readonly node: string
  readonly postgres: string
  readonly redis: string
  readonly kafka: string
}

export async function describeMachine(): Promise<Machine> {
  const [postgres, redis, kafka] = await Promise.all([postgresVersion(), redisVersion(), kafkaVersion()])
  return {
    system: systemType(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryMb: Math.round(totalmem() / 1024 / 1024),
    loadBefore: loadavg()[0] ?? 0,
    node: process.version,
    postgres,
    redis,
    kafka,
  }
}

async function postgresVersion(): Promise<string> {
  const client = new pg.Client({ connectionString: engines.databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version ?? 'unknown'
  } finally {
    await client.end()
  }
}

async function redisVersion(): Promise<string> {
  const redis = openRedis()
  try {
    const [, version] = /^redis_version:(\S+)/m.exec(await redis.client.info('server')) ?? []
    return version ?? 'unknown'
  } finally {
    await redis.close()
  }
}

/** Brokers do not report their version; this is the one that the local stack runs. */
async function kafkaVersion(): Promise<string> {
  const pom = await readFile(path.join(root, 'deploy/local/kafka/pom.xml'), 'utf8')
  const [, version] = /<kafka\.version>([^<]+)</.exec(pom) ?? []
  return version === undefined ? 'unknown' : `${version} (that of the local stack)`
}
