import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { PUBLIC_TOPICS } from '@restante/contracts/events'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import type { OperationId } from '@restante/contracts/operations'
import type { Webhook } from '@restante/contracts/resources'
import { Database, sql } from '@restante/service/database'
import type { Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import {
  callerHeaders,
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  GATEWAY_KEYS,
  GATEWAY_TOPICS,
  GatewayProcess,
  openRedis,
  peerHeaders,
  startService,
} from '@restante/testkit'
import { service as webhooksDispatcher } from '../src/main.ts'
import { FakeMail } from './fake-mail.ts'

/** A response read to its end; `body` is the JSON document, or `{}` where there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** The dispatcher on engines of its own, with a real gateway. */
export interface TestDispatcher {
  readonly gateway: GatewayProcess
  readonly mail: FakeMail
  /** The running service; a test may stop it and start another one. */
  readonly service: Service
  /**
   * Starts another instance. Does not wait for its consumers, which join late when a member of their group was killed.
   */
  start(): Promise<void>
  readonly db: Database
  readonly events: EventPublisher
  /** Of events that are said to have reached Kafka an hour ago. */
  readonly lateEvents: EventPublisher
  readonly env: Readonly<Record<string, string>>
  /** One request as the gateway forwards it for a caller. */
  request(operation: OperationId, caller: Caller, method: string, target: string, body?: unknown): Promise<Answer>
  /** One internal call as the gateway makes it. */
  internal(operation: InternalOperationId, body: unknown): Promise<Answer>
  create(caller: Caller, body: unknown): Promise<Answer>
  /** Creates a webhook, and fails unless it was created. */
  webhook(caller: Caller, body: Record<string, unknown>): Promise<Webhook>
  /** Deletes every webhook and its pending deliveries. */
  clear(): Promise<void>
  /** Makes every pending attempt due now. */
  hurry(): Promise<void>
  /** Numbers of remaining rows of deliveries, by kind. */
  remains(): Promise<{ deliveries: number; payloads: number; timers: number }>
  stop(): Promise<void>
}

const COUNT_REMAINS = sql<{ deliveries: number; payloads: number; timers: number }>(
  `select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from payloads) as payloads,
          (select count(*)::int from timers) as timers`,
)

const deleteAll = sql<unknown>(
  'truncate webhooks, deliveries, payloads, timers, delivery_log, ended_webhooks, webhook_notices, warned_organizations',
)
const makeDue = sql<unknown>('update timers set due_at = now() where lease_id is null')

export async function startDispatcher(overrides: Record<string, string> = {}): Promise<TestDispatcher> {
  const redis = openRedis()
  const [database, kafka, port, mail] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '..')),
    createTopics([...GATEWAY_TOPICS, ...PUBLIC_TOPICS]),
    freePort(),
    new FakeMail().start(),
  ])
  const upstreams = { 'webhooks-dispatcher': `http://127.0.0.1:${port}`, 'mail-send': mail.url }
  const gateway = await GatewayProcess.start({ topics: kafka, redis, upstreams })
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PUBLIC_URL: 'http://public.test',
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: kafka.prefix,
    GATEWAY_URL: gateway.url,
    PEER_KEY_GATEWAY: GATEWAY_KEYS.peer,
    MAIL_INGEST_URL: mail.url,
    PEER_KEY_MAIL_INGEST: 'key of mail-ingest in the tests',
    CALLER_KEY: GATEWAY_KEYS.caller,
    CURSOR_SECRET: 'the secret of the page tokens',
    ENCRYPTION_KEY: 'the key of the stored secrets',
    DOCS_URL: 'http://docs.test',
    ALLOW_HTTP_URLS: 'true',
    ALLOW_LOOPBACK_URLS: 'true',
    ...overrides,
  }
  const config = webhooksDispatcher.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  let running = await startService(webhooksDispatcher, config)
  const events = new EventPublisher(kafka.kafka)
  const lateEvents = new EventPublisher(kafka.kafka, () => new Date(Date.now() - 3_600_000))

  async function request(operation: OperationId, caller: Caller, method: string, target: string, body?: unknown) {
    const headers = callerHeaders('webhooks-dispatcher', GATEWAY_KEYS.caller, operation, caller)
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }

  async function internal(operation: InternalOperationId, body: unknown) {
    const response = await fetch(`http://127.0.0.1:${port}${internalOperations[operation].path}`, {
      method: 'POST',
      headers: peerHeaders('gateway', 'webhooks-dispatcher', GATEWAY_KEYS.peer, operation),
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }

  return {
    gateway,
    mail,
    get service() {
      return running
    },
    async start() {
      running = await webhooksDispatcher.create(config, createLogger({ service: 'test', level: 'silent' }))
      await running.start()
    },
    db,
    events,
    lateEvents,
    env,
    request,
    internal,
    create: (caller, body) => request('webhooks.create', caller, 'POST', '/webhooks', body),
    async webhook(caller, body) {
      const { status, body: made } = await request('webhooks.create', caller, 'POST', '/webhooks', body)
      if (status !== 200) throw new Error(`the webhook was refused with ${status}: ${JSON.stringify(made)}`)
      return made
    },
    async clear() {
      // Running attempts lock the same rows: after a deadlock with them it is retried.
      await db.transaction((tx) => tx.query(deleteAll))
    },
    async hurry() {
      await db.query(makeDue)
    },
    async remains() {
      const [row] = await db.query(COUNT_REMAINS)
      return row ?? { deliveries: -1, payloads: -1, timers: -1 }
    },
    async stop() {
      await running.stop()
      await Promise.all([events.stop(), lateEvents.stop(), gateway.stop(), mail.stop(), db.stop()])
      await Promise.all([kafka.delete(), redis.close()])
      await database.drop()
    },
  }
}
