import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { UPSTREAMS, variablePart } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import type { Service } from '@restante/service/process'
import {
  createDatabase,
  createTopics,
  databaseEnvironment,
  freePort,
  openRedis,
  startService,
  type TestTopics,
} from '@restante/testkit'
import { Installation } from '../src/admin/checks/installation.ts'
import { Apps } from '../src/admin/operator/apps.ts'
import { DeliveryQueue } from '../src/admin/operator/delivery-queue.ts'
import { Domains } from '../src/admin/operator/domains.ts'
import { Metrics } from '../src/admin/operator/metrics.ts'
import { Operator } from '../src/admin/operator/operator.ts'
import { WebhookLog } from '../src/admin/operator/webhook-log.ts'
import { service as gatewayService } from '../src/main.ts'
import { type Db, openDatabase } from '../src/storage/database.ts'
import { FakeUpstreams } from './fake-upstreams.ts'

export const CALLER_KEY = 'caller key of every service behind'
/** Where clients believe the API to be; between them and it stands what ends TLS. */
export const PUBLIC_URL = 'https://api.restante.test'
export const PEER_KEY = 'key of the pairs with the gateway'

/** An answer read to its end. `body` is the JSON document, or `{}` where there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export interface RecordedTenancyEvent {
  readonly type: string
  readonly subject: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Requests with one key. */
export interface Api {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body?: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

/** A gateway on engines of its own, with fake-upstreams for the services behind it. */
export interface TestGateway {
  readonly url: string
  readonly port: number
  readonly service: Service
  readonly db: Db
  readonly behind: FakeUpstreams
  readonly operator: Operator
  /** The outbound queue of the fake mail-send. */
  readonly queue: DeliveryQueue
  /** The delivery log of the fake webhooks-dispatcher. */
  readonly webhooks: WebhookLog
  /** The custom domains of the fake domains-dns, and the reports of the fake mail-ingest. */
  readonly domains: Domains
  /** The apps of the fake apps-signin. */
  readonly apps: Apps
  /** What the fake metrics counts. */
  readonly metrics: Metrics
  /** This gateway's database and Kafka, and the fakes of the other services. */
  readonly installation: Installation
  readonly topics: TestTopics
  readonly env: Readonly<Record<string, string>>
  /** Requests with a key, or with none. */
  as(key?: string): Api
  /** A new organization and its unrestricted key. */
  organization(limits?: { inboxes?: number }): Promise<{ id: string; key: string; api: Api }>
  /** Events of an organization, in the order of their commits. */
  events(organizationId: string): Promise<RecordedTenancyEvent[]>
  /** A second process of the same installation. */
  another(overrides?: Record<string, string>): Promise<{ service: Service; port: number; as: (key?: string) => Api }>
  stop(): Promise<void>
}

const EVENTS = sql<{ type: string; subject: string; payload: string }, [organizationId: string]>(
  'select type, subject, payload from outbox where key = $1 order by position',
)

export async function startGateway(overrides: Record<string, string> = {}): Promise<TestGateway> {
  const behind = new FakeUpstreams()
  const redis = openRedis()
  const [database, kafkaTopics, behindUrl, port] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '..')),
    createTopics([topics.tenancy, topics['apps.accounts']]),
    behind.start(),
    freePort(),
  ])
  const env = {
    ...environmentOf({ port, behindUrl, database: database.url, redis, topics: kafkaTopics }),
    ...overrides,
  }
  const service = await startService(gatewayService, configOf(env))
  const db = openDatabase({ url: database.url, poolSize: 2 })
  const operator = new Operator({ ...configOf(env), operator: 'tester' })
  const queue = new DeliveryQueue({ mailSend: { url: behindUrl, key: PEER_KEY }, operator: 'tester' })
  const webhooks = new WebhookLog({ dispatcher: { url: behindUrl, key: PEER_KEY }, operator: 'tester' })
  const behindPeer = { url: behindUrl, key: PEER_KEY }
  const domains = new Domains({ domainsDns: behindPeer, mailIngest: behindPeer, operator: 'tester' })
  const apps = new Apps({ appsSignin: behindPeer, operator: 'tester' })
  const metrics = new Metrics({ metrics: behindPeer, operator: 'tester' })
  const { kafka, retiredAddressMs, addresses } = configOf(env)
  const installation = new Installation({
    database: { url: database.url },
    kafka,
    peerOf: () => behindPeer,
    retiredAddressMs,
    sharedDomains: addresses.sharedDomains,
    operator: 'tester',
  })
  const others: Service[] = []
  const as = (key?: string) => apiOf(`http://127.0.0.1:${port}`, key)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    service,
    db,
    behind,
    operator,
    queue,
    webhooks,
    domains,
    apps,
    metrics,
    installation,
    topics: kafkaTopics,
    env,
    as,
    async organization(limits) {
      const { organization, key } = await operator.createOrganization(limits)
      return { id: organization.id, key: key.secret, api: as(key.secret) }
    },
    async events(organizationId) {
      const rows = await db.query(EVENTS, organizationId)
      return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) }))
    },
    async another(more = {}) {
      const otherPort = await freePort()
      const other = await startService(gatewayService, configOf({ ...env, PORT: String(otherPort), ...more }))
      others.push(other)
      return { service: other, port: otherPort, as: (key) => apiOf(`http://127.0.0.1:${otherPort}`, key) }
    },
    async stop() {
      await Promise.all([service, ...others].map((running) => running.stop()))
      await Promise.all([
        db.stop(),
        operator.close(),
        queue.close(),
        webhooks.close(),
        domains.close(),
        apps.close(),
        metrics.close(),
        installation.close(),
        behind.stop(),
        redis.close(),
        kafkaTopics.delete(),
      ])
      await database.drop()
    },
  }
}

interface Place {
  readonly port: number
  readonly behindUrl: string
  readonly database: string
  readonly redis: { readonly url: string; readonly prefix: string }
  readonly topics: TestTopics
}

function environmentOf(place: Place): Record<string, string> {
  const services = UPSTREAMS.map(variablePart)
  return {
    PORT: String(place.port),
    HOST: '127.0.0.1',
    INTERNAL_ON_PUBLIC_PORT: 'true',
    ...databaseEnvironment(place.database),
    REDIS_URL: place.redis.url,
    REDIS_PREFIX: place.redis.prefix,
    KAFKA_BROKERS: process.env['KAFKA_BROKERS'] ?? '127.0.0.1:19092',
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: place.topics.prefix,
    PUBLIC_URL,
    OTHER_PUBLIC_URLS: `http://127.0.0.1:${place.port}`,
    DOCS_URL: 'http://docs.test',
    INSTALLATION_SECRET: 'the secret of this installation',
    CURSOR_SECRET: 'the secret of the page tokens',
    DEFAULT_DOMAIN: 'restante.test',
    // In the path of every request, and out of the way of tests about something else.
    RATE_LIMIT_ORGANIZATION: '100000/s',
    RATE_LIMIT_ORGANIZATION_BURST: '100000',
    RATE_LIMIT_CREDENTIAL: '100000/s',
    RATE_LIMIT_CREDENTIAL_BURST: '100000',
    RATE_LIMIT_SIGN_UP: '100000/s',
    RATE_LIMIT_FAILED_AUTHENTICATION: '100000/s',
    ...Object.fromEntries(
      services.flatMap((name) => [
        [`${name}_URL`, place.behindUrl],
        [`CALLER_KEY_${name}`, CALLER_KEY],
        [`PEER_KEY_${name}`, PEER_KEY],
      ]),
    ),
  }
}

function configOf(env: Record<string, string>) {
  return gatewayService.configure(env)
}

/** Requests with a key to a gateway at another address. */
export function apiOf(url: string, key: string | undefined): Api {
  const call = async (method: string, target: string, body?: unknown, more: Record<string, string> = {}) => {
    const headers = new Headers(more)
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
    const init: RequestInit = { method, headers }
    if (body !== undefined) {
      headers.set('content-type', 'application/json')
      init.body = typeof body === 'string' ? body : JSON.stringify(body)
    }
    const response = await fetch(`${url}${target}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }
  return {
    get: (target, headers) => call('GET', target, undefined, headers),
    post: (target, body, headers) => call('POST', target, body, headers),
    patch: (target, body) => call('PATCH', target, body),
    delete: (target) => call('DELETE', target),
  }
}
