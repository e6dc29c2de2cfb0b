import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import { type OperationId, operations } from '@restante/contracts/operations'
import type { CalendarEvent } from '@restante/contracts/resources'
import { Database } from '@restante/service/database'
import {
  callerHeaders,
  collectTopic,
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  openRedis,
  peerHeaders,
  startService,
  type TopicCollection,
} from '@restante/testkit'
import { service as calendar } from '../../src/main.ts'
import { FakePeers } from './fake-peers.ts'
import { callerFor, makeInbox, type TestInbox } from './tenant.ts'

const CALLER_KEY = 'caller key of the tests, 32 bytes'
const PEER_KEY = 'key of a pair in the tests, 32 b'

/** Members of answers that tests read. */
export interface Body {
  readonly event?: CalendarEvent
  readonly operation_id?: string
  readonly deletion_id?: string
  readonly events?: readonly CalendarEvent[]
  readonly next_page_token?: string
  readonly code?: string
  readonly errors?: readonly { readonly path: readonly (string | number)[]; readonly message: string }[]
  readonly [member: string]: unknown
}

/** A response read to its end; `body` is the JSON document, or `{}` where there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

export interface CallOptions {
  /** Values for the segments in braces, besides the inbox. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly caller?: Partial<Caller>
}

/** The calendar service on real engines, with its peers faked at their wire. */
export interface CalendarFixture {
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  readonly db: Database
  readonly peers: FakePeers
  readonly events: EventPublisher
  /** What the service publishes. */
  readonly published: TopicCollection
  /** The public events of an inbox so far, in their order. */
  publicEvents(inbox: TestInbox): Record<string, unknown>[]
  /** An inbox with an organization of its own, or in one. */
  inbox(organizationId?: string): TestInbox
  /** One request about the calendar of an inbox, as the gateway forwards it. */
  call(operation: OperationId, inbox: TestInbox, options?: CallOptions): Promise<Answer>
  /** One internal call of the gateway. */
  internal(operation: InternalOperationId, body: unknown): Promise<Answer>
  /** Stops the service as an operator would, and starts another one on the same data. */
  restart(overrides?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
}

/** @param overrides environment on top of what the tests need. */
export async function startCalendar(overrides: Readonly<Record<string, string>> = {}): Promise<CalendarFixture> {
  const [database, kafka, redis, port, peers] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics([topics.tenancy, topics['calendar.events'], topics['mail.messages']]),
    openRedis(),
    freePort(),
    new FakePeers().start(),
  ])
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PUBLIC_URL: 'http://public.test',
    DOCS_URL: 'http://docs.test',
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: kafka.prefix,
    GATEWAY_URL: peers.url,
    PEER_KEY_GATEWAY: PEER_KEY,
    MAIL_SEND_URL: peers.url,
    PEER_KEY_MAIL_SEND: PEER_KEY,
    MAIL_INGEST_URL: peers.url,
    PEER_KEY_MAIL_INGEST: PEER_KEY,
    CALLER_KEY,
    CURSOR_SECRET: 'the secret of the page tokens',
    ...overrides,
  }
  const config = calendar.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const events = new EventPublisher(kafka.kafka)
  const published = await collectTopic(kafka.kafka, 'calendar.events')
  let running = await startService(calendar, config)
  const url = `http://127.0.0.1:${port}`
  return {
    env,
    url,
    db,
    peers,
    events,
    published,
    publicEvents: ({ inbox_uid }) =>
      published.records.flatMap(({ key, value }) => (key === inbox_uid ? [JSON.parse(value)] : [])),
    inbox: (organizationId) => makeInbox(peers, organizationId),
    call(operation, inbox, { params = {}, query = {}, body, headers = {}, caller } = {}) {
      const { method, path: template } = operations[operation]
      const all: Record<string, string> = { inbox_id: inbox.address, ...params }
      const target = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(all[name] ?? ''))
      const search = new URLSearchParams(query).toString()
      const sent = { ...callerHeaders('calendar', CALLER_KEY, operation, callerFor(inbox, caller)), ...headers }
      return send(method, `${url}${target}${search && `?${search}`}`, sent, body)
    },
    internal(operation, body) {
      const headers = peerHeaders('gateway', 'calendar', PEER_KEY, operation)
      return send('POST', `${url}${internalOperations[operation].path}`, headers, body)
    },
    async restart(more = {}) {
      await running.stop()
      running = await startService(calendar, calendar.configure({ ...env, ...more }))
    },
    async stop() {
      await running.stop()
      await Promise.all([published.stop(), events.stop(), peers.stop(), db.stop()])
      await kafka.delete()
      await Promise.all([database.drop(), redis.close()])
    },
  }
}

async function send(method: string, url: string, headers: Record<string, string>, body: unknown): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}
