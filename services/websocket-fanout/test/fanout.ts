import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { PUBLIC_TOPICS, topics } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { Database, sql } from '@restante/service/database'
import type { Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import {
  byLength,
  callerHeaders,
  callerOf,
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  GATEWAY_KEYS,
  GATEWAY_TOPICS,
  GatewayProcess,
  type InboxScope,
  openRedis,
  receivedEvent,
  StreamClient,
  startService,
  type TestRedis,
  type TestTopics,
  waitFor,
} from '@restante/testkit'
import { service as websocketFanout } from '../src/main.ts'

const IN_LOG = sql<{ count: number }, [ids: readonly string[]]>(
  'select count(*)::int as count from stream_log where event_id = any($1::uuid[])',
)

/** Within which a stream or poll of a dead key ends. At full length it is what is promised, on a machine that is not busy. */
export const REVOCATION_MS = LIMITS.stream.revocation * byLength({ short: 5, long: 1 })

/** A key as issued by the gateway. */
export interface Key {
  readonly id: string
  readonly secret: string
}

/** An organization in the gateway, with an inbox in its default pod. */
export interface Tenant {
  readonly id: string
  readonly key: string
  readonly inbox: InboxScope
}

/** The fan-out on engines of its own, behind a real gateway. */
export interface TestFanout {
  readonly gateway: GatewayProcess
  readonly redis: TestRedis
  readonly topics: TestTopics
  readonly upstreams: { readonly 'websocket-fanout': string }
  readonly service: Service
  readonly db: Database
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  tenant(): Promise<Tenant>
  /** A new key; without permissions an unrestricted one. `prefix` names its tier: '', `/pods/<id>`, `/inboxes/<id>`. */
  key(tenant: Tenant, options?: { prefix?: string; permissions?: string[]; expires_at?: string }): Promise<Key>
  /** A stream through the gateway. */
  connect(secret: string): Promise<StreamClient>
  /** A stream that bypasses the gateway, for a caller that the gateway would have named. */
  connectAs(caller: Caller, port?: number, headers?: Readonly<Record<string, string>>): Promise<StreamClient>
  /** Writes events to the topic of messages, as mail-ingest does. */
  publish(...events: Parameters<EventPublisher['publish']>[1][]): Promise<void>
  /** Writes events to the topic of messages, and waits until the instance has read them in the log. */
  log(...events: Parameters<EventPublisher['publish']>[1][]): Promise<void>
  /** Publishes events of organizations, pods, inboxes and keys, as the gateway does. */
  tell(...events: Parameters<EventPublisher['publish']>[1][]): Promise<void>
  /** A second instance of the same installation. @param ready whether to wait for its consumers. @returns its port. */
  another(overrides?: Record<string, string>, ready?: boolean): Promise<{ service: Service; port: number }>
  stop(): Promise<void>
}

export async function startFanout(overrides: Record<string, string> = {}): Promise<TestFanout> {
  const redis = openRedis()
  const [database, kafka, port] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '..')),
    createTopics([...GATEWAY_TOPICS, ...PUBLIC_TOPICS]),
    freePort(),
  ])
  const upstreams = { 'websocket-fanout': `http://127.0.0.1:${port}` }
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
    CALLER_KEY: GATEWAY_KEYS.caller,
    CURSOR_SECRET: 'the secret of the cursors of streams',
    DOCS_URL: 'http://docs.test',
    STREAM_DRAIN: '500ms',
    ...overrides,
  }
  const config = websocketFanout.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const service = await startService(websocketFanout, config)
  const events = new EventPublisher(kafka.kafka)
  const others: Service[] = []
  let witness: ReturnType<typeof openWitness> | undefined

  const fanout: TestFanout = {
    gateway,
    redis,
    topics: kafka,
    upstreams,
    service,
    db,
    port,
    env,
    async tenant() {
      const organization = await gateway.organization()
      return { ...organization, inbox: await gateway.addInbox(organization) }
    },
    async key(tenant, { prefix = '', permissions, expires_at } = {}) {
      const made = await gateway.request(tenant.key, 'POST', `/v0${prefix}/api-keys`, {
        ...(permissions && { permissions: Object.fromEntries(permissions.map((name) => [name, true])) }),
        ...(expires_at !== undefined && { expires_at }),
      })
      return { id: String(made['api_key_id']), secret: String(made['api_key']) }
    },
    connect: (secret) =>
      StreamClient.open(`${gateway.url.replace('http', 'ws')}/v0`, { headers: { authorization: `Bearer ${secret}` } }),
    async connectAs(caller, at = port, more = {}) {
      const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.connect', caller)
      return StreamClient.open(`ws://127.0.0.1:${at}/`, { headers: { ...headers, ...more } })
    },
    publish: (...given) => events.publish(topics['mail.messages'], ...given),
    async log(...given) {
      await events.publish(topics['mail.messages'], ...given)
      const ids = given.map(({ id }) => id)
      const all = async () => (await db.query(IN_LOG, ids))[0]?.count === ids.length
      await waitFor(all, { what: 'the events in the log' })
      witness ??= openWitness(fanout)
      const { stream, inbox } = await witness
      // The instance delivers the log in its order: what is in it before this event was delivered before it.
      const last = receivedEvent(inbox)
      await events.publish(topics['mail.messages'], last)
      await stream.next((event) => event['event_id'] === last.id, { what: 'the instance to read the log' })
    },
    tell: (...given) => events.publish(topics.tenancy, ...given),
    async another(more = {}, ready = true) {
      const otherPort = await freePort()
      const otherConfig = websocketFanout.configure({ ...env, PORT: String(otherPort), ...more })
      const other = ready
        ? await startService(websocketFanout, otherConfig)
        : await websocketFanout.create(otherConfig, createLogger({ service: 'test', level: 'silent' }))
      others.push(other)
      if (!ready) await other.start()
      return { service: other, port: otherPort }
    },
    async stop() {
      await (await witness)?.stream.close()
      await Promise.all([service, ...others].map((running) => running.stop()))
      await Promise.all([events.stop(), gateway.stop(), db.stop()])
      await Promise.all([kafka.delete(), redis.close()])
      await database.drop()
    },
  }
  return fanout
}

/** A stream of an organization of its own, which shows how far the instance has read the log. */
async function openWitness(fanout: Pick<TestFanout, 'tenant' | 'connect'>) {
  const { key, inbox } = await fanout.tenant()
  const stream = await fanout.connect(key)
  await stream.ask({ type: 'subscribe' })
  return { stream, inbox }
}

/** The caller that the gateway names for a key of an organization. */
export function callerWith(tenant: Tenant, key: Key, permissions?: string[]): Caller {
  const { credential } = callerOf()
  return callerOf({
    organization_id: tenant.id,
    credential: { ...credential, id: key.id, ...(permissions && { permissions }) },
  })
}
