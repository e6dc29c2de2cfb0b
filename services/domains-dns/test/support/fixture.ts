import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import { type OperationId, operations } from '@restante/contracts/operations'
import { type Domain, domain } from '@restante/contracts/resources'
import { Database } from '@restante/service/database'
import {
  callerHeaders,
  callerOf,
  collectTopic,
  createDatabase,
  createTopics,
  DnsZone,
  EventPublisher,
  engines,
  freePort,
  openRedis,
  peerHeaders,
  randomName,
  startService,
  type TopicCollection,
} from '@restante/testkit'

import { service as domainsDns } from '../../src/main.ts'
import { findNamed } from '../../src/registrations/find.ts'
import type { DomainRow } from '../../src/registrations/store.ts'
import { Peers } from './peers.ts'

export const MX_HOST = 'mx.restante.test'
export const CALLER_KEY = 'caller key of the tests, 32 bytes'
const PEER_KEY = 'key of a pair in the tests, 32 b'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type Asking = 'gateway' | 'mail-ingest' | 'mail-send'

/** A response read to its end; `body` is the JSON document, or `{}` where there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface CallOptions {
  /** Name or `client_id` of a domain, for operations on one. */
  readonly domain?: string
  readonly body?: unknown
  readonly query?: string
}

/** domains-dns on real engines, with DNS and the services that it calls on loopback. */
export interface Fixture {
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  readonly db: Database
  /** The DNS servers of the service: all ask this zone. */
  readonly zone: DnsZone
  readonly peers: Peers
  readonly events: EventPublisher
  /** What the service publishes to `domains.state` and `domains.events`. */
  readonly states: TopicCollection
  readonly publics: TopicCollection
  /** One request as the gateway forwards it for a caller. */
  call(operation: OperationId, caller: Caller, options?: CallOptions): Promise<Answer>
  /** One internal call. */
  internal(operation: InternalOperationId, from: Asking, body: unknown): Promise<Answer>
  /** Registers a domain, with a new name unless the body has one, and fails unless it was registered. */
  register(caller: Caller, body?: Record<string, unknown>): Promise<Domain>
  /** The row of a domain. */
  row(caller: Caller, name: string): Promise<DomainRow>
  /** Stops the service as an operator would, and starts another one on the same data. */
  restart(overrides?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
}

/** A name that nobody has registered. */
export function newName(): string {
  return `${randomName()}.example`
}

/** Callers of one organization. */
export function tenant(organizationId = callerOf().organization_id) {
  const credential = (tier: 'organization' | 'pod') => ({ ...callerOf().credential, tier })
  return {
    id: organizationId,
    owner: callerOf({ organization_id: organizationId, credential: credential('organization') }),
    /** The organization's key on the path of a pod. */
    inPod: (podId: string) =>
      callerOf({
        organization_id: organizationId,
        pod_id: podId,
        pod_in_path: true,
        credential: credential('organization'),
      }),
    /** A pod's own key, on the path of the organization. */
    pod: (podId: string) => callerOf({ organization_id: organizationId, pod_id: podId, credential: credential('pod') }),
  }
}

/** @param overrides environment on top of what the tests need. */
export async function startFixture(overrides: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const redis = openRedis()
  const [database, kafka, port, zone, peers] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics([topics.tenancy, topics['domains.state'], topics['domains.events']]),
    freePort(),
    new DnsZone().start(),
    new Peers().start(),
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
    MAIL_INGEST_URL: peers.url,
    PEER_KEY_MAIL_INGEST: PEER_KEY,
    MAIL_SEND_URL: peers.url,
    PEER_KEY_MAIL_SEND: PEER_KEY,
    METRICS_URL: peers.url,
    PEER_KEY_METRICS: PEER_KEY,
    CALLER_KEY,
    CURSOR_SECRET: 'the secret of the page tokens',
    ENCRYPTION_KEY: 'the key of the stored secrets',
    DEFAULT_DOMAIN: 'restante.test',
    DNS_SERVERS: zone.address,
    MX_HOST,
    SPF_INCLUDE: 'spf.restante.test',
    TRACKING_HOST: 'track.restante.test',
    ALLOW_SPECIAL_USE_DOMAINS: 'true',
    ALLOW_HTTP_URLS: 'true',
    ALLOW_LOOPBACK_URLS: 'true',
    ...overrides,
  }
  const config = domainsDns.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const [states, publics] = await Promise.all([
    collectTopic(kafka.kafka, 'domains.state'),
    collectTopic(kafka.kafka, 'domains.events'),
  ])
  const events = new EventPublisher(kafka.kafka)
  let running = await startService(domainsDns, config)
  const url = `http://127.0.0.1:${port}`

  const call: Fixture['call'] = (operation, caller, { domain: id = '', body, query = '' } = {}) => {
    const { method, path: target } = operations[operation]
    const headers = callerHeaders('domains-dns', CALLER_KEY, operation, caller)
    return send(method, `${url}${target.replace('{domain_id}', encodeURIComponent(id))}${query}`, headers, body)
  }
  return {
    env,
    url,
    db,
    zone,
    peers,
    events,
    states,
    publics,
    call,
    internal(operation, from, body) {
      const headers = peerHeaders(from, 'domains-dns', PEER_KEY, operation)
      return send('POST', `${url}${internalOperations[operation].path}`, headers, body)
    },
    async register(caller, body = {}) {
      const { status, body: made } = await call('domains.create', caller, { body: { domain: newName(), ...body } })
      if (status !== 200) throw new Error(`the domain was refused with ${status}: ${JSON.stringify(made)}`)
      return domain.parse(made)
    },
    async row(caller, name) {
      const [row] = await findNamed(db, caller.organization_id, [name])
      if (!row) throw new Error(`${name} is not registered`)
      return row
    },
    async restart(more = {}) {
      await running.stop()
      running = await startService(domainsDns, domainsDns.configure({ ...env, ...more }))
    },
    async stop() {
      await running.stop()
      await Promise.all([states.stop(), publics.stop(), events.stop(), zone.stop(), peers.stop(), db.stop()])
      await Promise.all([kafka.delete(), redis.close()])
      await database.drop()
    },
  }
}

async function send(method: Method, url: string, headers: Record<string, string>, body: unknown): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}
