import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { promisify } from 'node:util'
import { serviceCommand } from '@restante/service'
import { createDatabase, engines, freePort, openRedis, waitFor } from '@restante/testkit'

const folder = path.resolve(import.meta.dirname, '../../gateway')
/** Nothing answers here: the other services are not part of this suite. */
const NOBODY = 'http://127.0.0.1:9'

export interface GatewayInbox {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_id: string
}

/** The real gateway, in a process of its own, as the owner of organizations and inboxes. */
export interface GatewayProcess {
  readonly url: string
  /** An organization's unrestricted key. */
  organization(): Promise<{ id: string; key: string }>
  request(key: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export async function startGateway(options: {
  topicPrefix: string
  peerKey: string
  callerKey: string
  domain: string
  mailIngestUrl: string
}): Promise<GatewayProcess> {
  const redis = openRedis()
  const [database, port] = await Promise.all([createDatabase(folder), freePort()])
  const env = {
    ...process.env,
    ...environmentOf({ ...options, port, database: database.url, redisUrl: redis.url, redisPrefix: redis.prefix }),
  }
  const [program, ...args] = serviceCommand(path.join(folder, 'src/main.ts'))
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => output.push(String(text)))
  const url = `http://127.0.0.1:${port}`
  await waitFor(async () => isReady(child, url, output), { what: 'the gateway to be ready', timeout: 30_000 })
  return {
    url,
    async organization() {
      const words = [path.join(folder, 'src/admin/main.ts'), 'organizations', 'first', '--json']
      const { stdout } = await promisify(execFile)(process.execPath, words, { env })
      const { organization_id, api_key } = JSON.parse(stdout)
      return { id: organization_id, key: api_key }
    },
    async request(key, method, place, body) {
      const response = await fetch(url + place, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${place}: ${response.status} ${text}`)
      return text === '' ? {} : JSON.parse(text)
    },
    async stop() {
      child.kill('SIGINT')
      if (child.exitCode === null) await once(child, 'exit')
      await redis.close()
      await database.drop()
    },
  }
}

async function isReady(child: ChildProcess, url: string, output: readonly string[]): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`the gateway ended: ${output.join('')}`)
  const response = await fetch(`${url}/readyz`).catch(() => undefined)
  if (response && !response.ok) throw new Error(await response.text())
  return response?.ok ?? false
}

function environmentOf(place: {
  topicPrefix: string
  peerKey: string
  callerKey: string
  domain: string
  mailIngestUrl: string
  port: number
  database: string
  redisUrl: string
  redisPrefix: string
}): Record<string, string> {
  const secret = 'a secret of the test installation'
  const others = ['MAIL_SEND', 'WEBHOOKS_DISPATCHER', 'WEBSOCKET_FANOUT']
  return {
    PORT: String(place.port),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DATABASE_URL: place.database,
    REDIS_URL: place.redisUrl,
    REDIS_PREFIX: place.redisPrefix,
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: place.topicPrefix,
    PUBLIC_URL: 'http://public.test',
    DOCS_URL: 'http://docs.test',
    INSTALLATION_SECRET: secret,
    CURSOR_SECRET: secret,
    DEFAULT_DOMAIN: place.domain,
    MAIL_INGEST_URL: place.mailIngestUrl,
    CALLER_KEY_MAIL_INGEST: place.callerKey,
    PEER_KEY_MAIL_INGEST: place.peerKey,
    ...Object.fromEntries(
      others.flatMap((name) => [
        [`${name}_URL`, NOBODY],
        [`CALLER_KEY_${name}`, secret],
        [`PEER_KEY_${name}`, secret],
      ]),
    ),
  }
}
