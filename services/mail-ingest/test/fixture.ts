import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import type { InternalOperationId, InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { OperationId } from '@restante/contracts/operations'
import type { Attachment, InboxEvent, Message } from '@restante/contracts/resources'
import { ReturnPath } from '@restante/mime'
import { Database } from '@restante/service/database'
import { ServiceClient } from '@restante/service/http'
import type { Service } from '@restante/service/process'
import {
  callerHeaders,
  callerOf,
  collectTopic,
  createDatabase,
  createTopics,
  engines,
  freePort,
  GATEWAY_KEYS,
  GatewayProcess,
  openRedis,
  startService,
  type TestTopics,
  type TopicCollection,
} from '@restante/testkit'
import type { Config } from '../src/config.ts'
import { service as mailIngest } from '../src/main.ts'
import { type FakeDomainsDns, startFakeDomainsDns } from './peers/fake-domains-dns.ts'

const SECRET = 'a secret of the test installation'
export const DOMAIN = 'mail.test'

export interface TestInbox {
  readonly address: string
  readonly inbox_uid: string
  readonly organization_id: string
  readonly pod_id: string
  /** The caller that the gateway would name for an unrestricted key on the inbox's path. */
  readonly caller: Caller
}

/** Every member, as if it were there. */
type Present<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> }
/** A list whose first items tests name. */
type Several<T> = [T, T, T, T, ...T[]]

/**
 * What the documents of this service may hold, each member as its operation gives it. A test reads the members that its
 * operation answers with; one that is absent is `undefined` there, and the assertion on it fails.
 */
export interface Document extends Present<Message> {
  readonly count: number
  readonly limit: number
  readonly next_page_token: string
  readonly messages: Several<Document>
  readonly threads: Several<Document>
  readonly events: Several<InboxEvent>
  readonly attachments: Several<Present<Attachment>>
  readonly senders: string[]
  readonly recipients: string[]
  readonly message_count: number
  readonly last_message_id: string
  readonly download_url: string
  readonly text_url: string
  readonly expires_at: string
  readonly code: string
  readonly name: string
  readonly message: string
  readonly fix: string
  readonly errors: Several<{ readonly path: readonly (string | number)[]; readonly message: string }>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Document
}

/** mail-ingest in this process, the real gateway beside it, engines of their own. */
export interface Fixture {
  readonly smtpPort: number
  readonly url: string
  readonly metricsUrl: string
  readonly db: Database
  readonly databaseUrl: string
  readonly gatewayUrl: string
  /** Unrestricted key of the organization that holds the inboxes. */
  readonly key: string
  /** The gateway as mail-ingest calls it. */
  readonly gateway: ServiceClient
  readonly domainsDns: FakeDomainsDns
  readonly blobs: string
  readonly topics: TestTopics
  readonly service: Service
  readonly config: Config
  readonly returnPath: ReturnPath
  inbox(): Promise<TestInbox>
  /** An inbox of a new organization at an address of a custom domain. */
  inboxElsewhere(username: string, domain: string): Promise<{ organization_id: string; inbox_uid: string }>
  setStatus(inbox: TestInbox, status: 'active' | 'paused'): Promise<void>
  deleteInbox(inbox: TestInbox): Promise<void>
  /** A request as the gateway forwards it. */
  call(caller: Caller, operation: OperationId, method: string, path: string, body?: unknown): Promise<Answer>
  /** A call as mail-send makes it. */
  peer<Id extends InternalOperationId>(id: Id, body: InternalRequestOf<Id>): Promise<InternalResponseOf<Id>>
  /** A call as webhooks-dispatcher makes it. */
  dispatcherPeer<Id extends InternalOperationId>(id: Id, body: InternalRequestOf<Id>): Promise<InternalResponseOf<Id>>
  calendarPeer<Id extends InternalOperationId>(id: Id, body: InternalRequestOf<Id>): Promise<InternalResponseOf<Id>>
  metricsPeer<Id extends InternalOperationId>(id: Id, body: InternalRequestOf<Id>): Promise<InternalResponseOf<Id>>
  /** A call as the gateway makes it. */
  gatewayPeer<Id extends InternalOperationId>(id: Id, body: InternalRequestOf<Id>): Promise<InternalResponseOf<Id>>
  collect(topic: string): Promise<TopicCollection>
  stop(): Promise<void>
}

/** @param domain of the inboxes; that of mail-ingest itself is in the overrides. */
export async function openFixture(overrides: Record<string, string> = {}, domain = DOMAIN): Promise<Fixture> {
  const folder = path.resolve(import.meta.dirname, '..')
  const redis = openRedis()
  const [database, topics, blobs, domainsDns, port, smtpPort, metricsPort] = await Promise.all([
    createDatabase(folder),
    createTopics(),
    mkdtemp(path.join(tmpdir(), 'mail-ingest-')),
    startFakeDomainsDns(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const url = `http://127.0.0.1:${port}`
  const gateway = await GatewayProcess.start({
    topics,
    redis,
    domain,
    upstreams: { 'mail-ingest': url, 'domains-dns': domainsDns.url },
  })
  const config = configOf({
    PORT: String(port),
    SMTP_PORT: String(smtpPort),
    METRICS_PORT: String(metricsPort),
    DATABASE_URL: database.url,
    TOPIC_PREFIX: topics.prefix,
    BLOB_STORE: `directory:${blobs}`,
    GATEWAY_URL: gateway.url,
    DOMAINS_DNS_URL: domainsDns.url,
    ...overrides,
  })
  const service = await startService(mailIngest, config)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const { key } = await gateway.organization()
  const mailSend = new ServiceClient({ from: 'mail-send', to: 'mail-ingest', url, key: SECRET })
  const caller = new ServiceClient({ from: 'gateway', to: 'mail-ingest', url, key: GATEWAY_KEYS.peer })
  const dispatcher = new ServiceClient({ from: 'webhooks-dispatcher', to: 'mail-ingest', url, key: SECRET })
  const calendar = new ServiceClient({ from: 'calendar', to: 'mail-ingest', url, key: SECRET })
  const metrics = new ServiceClient({ from: 'metrics', to: 'mail-ingest', url, key: SECRET })
  const collections: TopicCollection[] = []
  const owner = new ServiceClient({ from: 'mail-ingest', to: 'gateway', url: gateway.url, key: GATEWAY_KEYS.peer })
  return {
    smtpPort,
    url,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    db,
    databaseUrl: database.url,
    key,
    gatewayUrl: gateway.url,
    gateway: owner,
    domainsDns,
    blobs,
    topics,
    service,
    config,
    returnPath: new ReturnPath(config.returnPath),
    async inbox() {
      const me = await gateway.request(key, 'GET', '/v0/auth/me')
      // Not a generated name: its words are found by searches.
      const username = `i${randomInt(2 ** 47)}`
      const { inbox_id: address } = await gateway.request(key, 'POST', '/v0/inboxes', { username })
      const { recipients } = await owner.call('gateway.resolveRecipients', { addresses: [String(address)] })
      const [found] = recipients
      if (found?.status !== 'deliver') throw new Error('the gateway does not know the inbox it made')
      const { organization_id, pod_id, inbox_uid } = found
      const inbox = { uid: inbox_uid, address: found.address, pod_id, paused: false }
      return {
        address: found.address,
        organization_id,
        pod_id,
        inbox_uid,
        caller: callerOf({
          organization_id,
          pod_id,
          inbox,
          credential: { ...callerOf().credential, id: String(me['api_key_id']) },
        }),
      }
    },
    async inboxElsewhere(username, domain) {
      const { id, key } = await gateway.organization()
      const { inbox_id } = await gateway.request(key, 'POST', '/v0/inboxes', { username, domain })
      const lookup = { organization_id: id, inboxes: [String(inbox_id)], pods: [] }
      const [found] = (await owner.call('gateway.lookupInboxes', lookup)).inboxes
      if (!found) throw new Error('the gateway does not know the inbox it made')
      return { organization_id: id, inbox_uid: found.inbox_uid }
    },
    async setStatus({ address }, status) {
      await gateway.request(key, 'PATCH', `/v0/inboxes/${encodeURIComponent(address)}`, { status })
    },
    async deleteInbox({ address }) {
      await gateway.request(key, 'DELETE', `/v0/inboxes/${encodeURIComponent(address)}`)
    },
    async call(caller, operation, method, place, body) {
      const headers = callerHeaders('mail-ingest', GATEWAY_KEYS.caller, operation, caller)
      const response = await fetch(url + place, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
    },
    peer: (id, body) => mailSend.call(id, body, 60_000),
    dispatcherPeer: (id, body) => dispatcher.call(id, body, 60_000),
    calendarPeer: (id, body) => calendar.call(id, body, 60_000),
    metricsPeer: (id, body) => metrics.call(id, body, 60_000),
    gatewayPeer: (id, body) => caller.call(id, body, 60_000),
    async collect(topic) {
      const collection = await collectTopic(topics.kafka, topic)
      collections.push(collection)
      return collection
    },
    async stop() {
      await Promise.all(collections.map((collection) => collection.stop()))
      await service.stop()
      await Promise.all([
        gateway.stop(),
        db.stop(),
        mailSend.stop(),
        dispatcher.stop(),
        calendar.stop(),
        metrics.stop(),
        caller.stop(),
        owner.stop(),
      ])
      await domainsDns.stop()
      await Promise.all([topics.delete(), redis.close(), database.drop(), rm(blobs, { recursive: true, force: true })])
    },
  }
}

export function configOf(variables: Record<string, string>): Config {
  return mailIngest.configure(environmentOf(variables))
}

/** The environment of a process of this service on a fixture. */
export function environmentOf(variables: Record<string, string>): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    DEFAULT_DOMAIN: DOMAIN,
    PUBLIC_URL: 'http://public.test',
    CALLER_KEY: GATEWAY_KEYS.caller,
    CURSOR_SECRET: SECRET,
    LINK_SECRET: SECRET,
    RETURN_PATH_SECRET: SECRET,
    OPERATOR_ADDRESS: 'operator@company.test',
    PEER_KEY_GATEWAY: GATEWAY_KEYS.peer,
    PEER_KEY_MAIL_SEND: SECRET,
    MAIL_SEND_URL: 'http://127.0.0.1:9',
    PEER_KEY_DOMAINS_DNS: SECRET,
    DOMAINS_DNS_URL: 'http://127.0.0.1:9',
    PEER_KEY_WEBHOOKS_DISPATCHER: SECRET,
    CALENDAR_URL: 'http://calendar.test',
    PEER_KEY_CALENDAR: SECRET,
    METRICS_URL: 'http://127.0.0.1:9',
    PEER_KEY_METRICS: SECRET,
    WEBHOOKS_DISPATCHER_URL: 'http://127.0.0.1:9',
    // A copy needs mail-send, which most tests do without.
    FEEDBACK_COPIES: 'false',
    SMTP_HOST: '127.0.0.1',
    SENDER_AUTH: 'trust-loopback',
    RATE_LIMIT_EXEMPT_LOOPBACK: 'true',
    ...variables,
  }
}
