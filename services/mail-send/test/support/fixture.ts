import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBlobStore, type StoredBlob } from '@restante/blobs'
import type { Caller } from '@restante/contracts/access'
import { topics as definitions, type Topic } from '@restante/contracts/events'
import { internalOperations } from '@restante/contracts/internal'
import type { OperationId } from '@restante/contracts/operations'
import { Database } from '@restante/service/database'
import {
  callerHeaders,
  callerOf,
  collectTopic,
  createDatabase,
  createTopics,
  DnsZone,
  engines,
  freePort,
  MailPeer,
  openRedis,
  peerHeaders,
  queryRows,
  startService,
  type TopicCollection,
  waitFor,
} from '@restante/testkit'
import type { Config } from '../../src/config.ts'
import type { QueueOperation } from '../../src/delivery/queue/routes.ts'
import { service as mailSend } from '../../src/main.ts'
import { Peers } from './peers.ts'
import { Wire } from './wire.ts'

export const DOMAIN = 'restante.test'
export const OPERATOR = 'operator@company.example'
export const CALLER_KEY = 'caller key of the tests'
const PEER_KEYS = {
  gateway: 'gateway key of the tests',
  'mail-ingest': 'mail-ingest key of tests',
  calendar: 'calendar key of the tests',
  metrics: 'metrics key of the tests',
} as const

/** The topics that mail-send writes and reads. Creating every topic of the system costs twice as much. */
const TOPICS = [
  ...(['mail.deliveries', 'mail.drafts', 'mail.lists', 'mail.feedback'] as const),
  ...(['domains.state', 'tenancy'] as const),
].map((name) => definitions[name])

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** mail-send on real engines, with fake external servers and services on loopback. */
export interface Fixture {
  readonly config: Config
  readonly db: Database
  readonly peers: Peers
  /** The external mail server: the MX of every domain that a test sends to. */
  readonly outside: MailPeer
  readonly zone: DnsZone
  readonly facts: TopicCollection
  readonly topics: Awaited<ReturnType<typeof createTopics>>
  readonly blobs: string
  /** The wire between the service and its database. */
  readonly wire: Wire
  call(operation: OperationId, caller: Caller, request: Request): Promise<Answer>
  internal(
    operation:
      | 'mail-send.sendSystemMail'
      | 'mail-send.hasSystemMailFailed'
      | 'mail-send.forwardToOperator'
      | 'mail-send.getSentCopy'
      | 'mail-send.findRecentSends'
      | 'mail-send.findDeliveries'
      | 'mail-send.findUnsubscribe'
      | 'mail-send.findListEntries'
      | 'mail-send.unsubscribe'
      | 'mail-send.recordOpen'
      | 'mail-send.purgeInbox'
      | 'mail-send.check'
      | 'mail-send.chargeInvitations'
      | 'mail-send.sendInvitation'
      | 'mail-send.countDrafts'
      | QueueOperation,
    from: keyof typeof PEER_KEYS,
    body: unknown,
  ): Promise<Answer>
  /** Stores a blob, as another service does. */
  store(name: string, content: Buffer): Promise<StoredBlob>
  /** Deletes everything that the service has in Redis. */
  flushRedis(): Promise<unknown>
  /** Stops the process as an operator would, and starts another one on the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface Request {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly key?: string
  /** Ends the request before its answer. */
  readonly signal?: AbortSignal
}

/** A running mail-send. */
export interface Running {
  stop(): Promise<void>
}

/** Starts mail-send inside the process of the test. */
const startHere = (environment: Readonly<Record<string, string>>): Promise<Running> =>
  startService(mailSend, mailSend.configure(environment))

/**
 * Starts everything.
 * @param variables environment on top of what the tests need.
 * @param start starts the service in this environment, also at each restart. Default: inside the process of the test.
 */
export async function startWorld(
  variables: Readonly<Record<string, string>> = {},
  start: (environment: Readonly<Record<string, string>>) => Promise<Running> = startHere,
): Promise<Fixture> {
  const [database, topics, zone, outside, peers, blobs, port, metricsPort] = await Promise.all([
    createDatabase(path.join(import.meta.dirname, '../..')),
    createTopics(TOPICS),
    new DnsZone().start(),
    new MailPeer().start(),
    new Peers().start(),
    mkdtemp(path.join(tmpdir(), 'mail-send-')),
    freePort(),
    freePort(),
  ])
  const redis = openRedis()
  const wire = await Wire.start(database.url)
  zone.rule((name) =>
    name.endsWith('.example') ? [{ type: 'MX', exchange: 'mx.outside.test', priority: 10 }] : undefined,
  )
  zone.set('mx.outside.test', { type: 'A', address: '127.0.0.1' })
  const environment = {
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    HOST: '127.0.0.1',
    DATABASE_URL: wire.url,
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: topics.prefix,
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    BLOB_STORE: `directory:${blobs}`,
    DEFAULT_DOMAIN: DOMAIN,
    PUBLIC_URL: 'http://127.0.0.1:3000',
    ENCRYPTION_KEY: 'encryption key of the tests',
    CURSOR_SECRET: 'the secret of the page tokens',
    LINK_SECRET: 'the secret of the download links',
    RETURN_PATH_SECRET: 'return path secret of the tests',
    OPERATOR_ADDRESS: OPERATOR,
    CALLER_KEY,
    GATEWAY_URL: peers.url,
    PEER_KEY_GATEWAY: PEER_KEYS.gateway,
    DOMAINS_DNS_URL: peers.url,
    PEER_KEY_DOMAINS_DNS: 'domains-dns key of the tests',
    MAIL_INGEST_URL: peers.url,
    PEER_KEY_MAIL_INGEST: PEER_KEYS['mail-ingest'],
    CALENDAR_URL: peers.url,
    PEER_KEY_CALENDAR: PEER_KEYS.calendar,
    METRICS_URL: peers.url,
    PEER_KEY_METRICS: PEER_KEYS.metrics,
    DNS_SERVERS: zone.address,
    MX_PORT: String(outside.port),
    MX_ALLOW_LOCAL: 'true',
    ALLOW_HTTP_URLS: 'true',
    ALLOW_LOOPBACK_URLS: 'true',
    RETRY_FIRST: '100ms',
    RETRY_MOST: '200ms',
    ...variables,
  }
  const config = mailSend.configure(environment)
  const db = new Database({ url: database.url, applicationName: 'test' })
  const [facts, first] = await Promise.all([collectTopic(topics.kafka, 'mail.deliveries'), start(environment)])
  let service = first
  const url = `http://127.0.0.1:${port}`
  return {
    config,
    db,
    peers,
    outside,
    zone,
    facts,
    topics,
    blobs,
    wire,
    async call(operation, caller, request) {
      const headers = callerHeaders('mail-send', CALLER_KEY, operation, caller)
      return post(`${url}${request.path}`, request, headers)
    },
    async internal(operation, from, body) {
      const headers = peerHeaders(from, 'mail-send', PEER_KEYS[from], operation)
      const { path } = internalOperations[operation]
      return post(`${url}${path}`, { path, body }, headers)
    },
    async store(name, content) {
      const store = await openBlobStore(config.blobStore)
      return store.put(name, content)
    },
    flushRedis: () => redis.deleteKeys(),
    async restart() {
      await service.stop()
      service = await start(environment)
    },
    async stop() {
      await service.stop()
      await Promise.all([
        db.stop(),
        facts.stop(),
        outside.stop(),
        peers.stop(),
        zone.stop(),
        redis.close(),
        wire.stop(),
      ])
      await Promise.all([topics.delete(), database.drop(), rm(blobs, { recursive: true })])
    },
  }
}

async function post(
  url: string,
  { method = 'POST', body, key, signal }: Request,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    signal: signal ?? null,
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...((method === 'POST' || method === 'PATCH') && {
      body: typeof body === 'string' ? body : JSON.stringify(body ?? {}),
    }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } }
}

/** A caller whose request is about an inbox of its own. */
export function inboxCaller(overrides: Partial<Caller> = {}): Caller & { inbox: NonNullable<Caller['inbox']> } {
  const inbox = {
    uid: randomUUID(),
    address: `desk-${randomUUID().slice(0, 8)}@${DOMAIN}`,
    pod_id: randomUUID(),
    display_name: 'The Desk',
    paused: false,
    ...overrides.inbox,
  }
  return { ...callerOf(overrides), inbox }
}

export interface Fact {
  readonly type: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Record<string, unknown>
}

/** The events in Kafka about one message, in order; each once, however often it was written. */
export function factsAbout(fixture: Pick<Fixture, 'facts'>, messageId: unknown): Fact[] {
  const records = fixture.facts.records.filter(({ value }) => value.includes(String(messageId)))
  return [...new Map(records.toReversed().map((record) => [record.id, record])).values()]
    .toReversed()
    .map(({ type, key, headers, value }) => ({ type, key, headers, payload: JSON.parse(value) }))
    .filter(({ payload }) => payload.message_id === messageId)
}

/** Waits for an event of a type about a message. */
export function factOf(
  fixture: Pick<Fixture, 'facts'>,
  messageId: unknown,
  type: keyof Topic<'mail.deliveries'>['events'],
): Promise<Fact> {
  return waitFor(() => factsAbout(fixture, messageId).find((fact) => fact.type === type), {
    what: `${type} of ${messageId}`,
  })
}

/** Lets the time be over in which a message is retried: its next attempt is the last one. */
export async function age({ db, config }: Pick<Fixture, 'db' | 'config'>, messageId: string): Promise<void> {
  const acceptedAt = new Date(Date.now() - config.delivery.retry.giveUpAfterMs)
  await queryRows(db, 'update sends set accepted_at = $2 where message_id = $1', messageId, acceptedAt)
}
