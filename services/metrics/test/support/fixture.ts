import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import type { DomainEvent, TopicDefinition } from '@restante/contracts/events'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import { operations } from '@restante/contracts/operations'
import { Database } from '@restante/service/database'
import type { Service } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import {
  callerHeaders,
  callerOf,
  countRows,
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  type InboxScope,
  peerHeaders,
  startService,
  type TestTopics,
  waitFor,
} from '@restante/testkit'
import { z } from 'zod'
import { service as metrics } from '../../src/main.ts'
import { Settler } from '../../src/series/settle.ts'
import type { Happening } from './happenings.ts'

const CALLER_KEY = 'caller key of the tests, 32 bytes'
const PEER_KEY = 'key of a pair in the tests, 32 b'

export type MetricsOperation = 'metrics.listEvents' | 'metrics.listUsage' | 'metrics.listRates' | 'metrics.list'

const map = z.record(
  z.string(),
  z.array(
    z.strictObject({
      timestamp: z.string(),
      count: z.int().optional(),
      value: z.int().optional(),
      rate: z.number().nullable().optional(),
      sent: z.int().optional(),
    }),
  ),
)
const refusal = z.object({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  errors: z.array(z.object({ path: z.array(z.union([z.string(), z.int()])), message: z.string() })).optional(),
})
/** The map that an operation answers with: entries by type. */
export type Answered = z.infer<typeof map>

export interface Answer {
  readonly status: number
  readonly map: Answered
  readonly refusal?: z.infer<typeof refusal>
}

/** What a key sees: everything, or as far as a path or its own scope reaches. */
export type View = 'organization' | 'pod' | 'inbox'

/** A query string, or its members. */
export type Query = string | Readonly<Record<string, string>>

export interface MetricsFixture {
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  readonly db: Database
  readonly topics: TestTopics
  readonly settler: Settler
  /** Writes what happened to its topics, as the producers do. */
  publish(...happened: readonly Happening[]): Promise<void>
  /** The same, and waits until it is counted. */
  count(...happened: readonly Happening[]): Promise<void>
  /** Asks as the gateway forwards the request of a key. */
  ask(operation: MetricsOperation, caller: Caller, query?: Query): Promise<Answer>
  /** The map that answers a request of an unrestricted key. */
  read(operation: MetricsOperation, scope: InboxScope, view: View, query?: Query): Promise<Answered>
  /** An internal call of the gateway. @param of the address of the replica; the one of this process by default. */
  internal(operation: InternalOperationId, body: unknown, of?: string): Promise<Response>
  /** A further replica in this process; it is stopped with the fixture. */
  another(): Promise<Service>
  stop(): Promise<void>
}

/** @param writtenAt when the records of events are said to have reached Kafka; now, by default. */
export async function startMetrics(writtenAt?: (event: DomainEvent) => Date): Promise<MetricsFixture> {
  const [database, topics, port] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics(),
    freePort(),
  ])
  const env = environment(database.url, topics.prefix, port)
  const config = metrics.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const events = new EventPublisher(topics.kafka, writtenAt)
  const running = [await startService(metrics, config)]
  const url = `http://127.0.0.1:${port}`

  async function publish(...happened: readonly Happening[]): Promise<void> {
    for (const [topic, of] of byTopic(happened)) await events.publish(topic, ...of)
  }
  async function ask(operation: MetricsOperation, caller: Caller, query: Query = {}): Promise<Answer> {
    const target = `${url}${operations[operation].path}?${new URLSearchParams(query)}`
    return send(target, { headers: callerHeaders('metrics', CALLER_KEY, operation, caller) })
  }
  return {
    env,
    url,
    db,
    topics,
    settler: new Settler({ db, log: createLogger({ service: 'test', level: 'silent' }) }),
    publish,
    ask,
    async count(...happened) {
      await publish(...happened)
      const ids = [...new Set(happened.map(({ event }) => event.id))]
      const live = "consumed where event_id = any($1) and consumer not like 'metrics.rebuild-%'"
      const isCounted = async () => (await countRows(db, live, ids)) === ids.length
      await waitFor(isCounted, { what: 'the events to be counted' })
    },
    async read(operation, scope, view, query) {
      const { status, map: answered, refusal: refused } = await ask(operation, viewer(scope, view), query)
      if (status !== 200) throw new Error(`${operation} was answered ${status}: ${JSON.stringify(refused)}`)
      return answered
    },
    internal(operation, body, of = url) {
      const headers = peerHeaders('gateway', 'metrics', PEER_KEY, operation)
      return fetch(`${of}${internalOperations[operation].path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
    },
    async another() {
      const service = await startService(metrics, metrics.configure({ ...env, PORT: String(await freePort()) }))
      running.push(service)
      return service
    },
    async stop() {
      await Promise.all(running.map((service) => service.stop()))
      await Promise.all([events.stop(), db.stop(), topics.delete()])
      await database.drop()
    },
  }
}

function environment(databaseUrl: string, prefix: string, port: number): Record<string, string> {
  const nobody = 'http://127.0.0.1:9'
  const peers = ['GATEWAY', 'MAIL_INGEST', 'MAIL_SEND', 'DOMAINS_DNS']
  return {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: prefix,
    PUBLIC_URL: 'http://public.test',
    DOCS_URL: 'http://docs.test',
    CALLER_KEY,
    ...Object.fromEntries(
      peers.flatMap((peer) => [
        [`${peer}_URL`, nobody],
        [`PEER_KEY_${peer}`, PEER_KEY],
      ]),
    ),
  }
}

function byTopic(happened: readonly Happening[]): Map<TopicDefinition, Happening['event'][]> {
  const of = new Map<TopicDefinition, Happening['event'][]>()
  for (const { topic, event } of happened) of.set(topic, [...(of.get(topic) ?? []), event])
  return of
}

/** An unrestricted key of an organization, on a path of one of the three scopes. */
export function viewer(scope: InboxScope, view: View, permissions?: readonly string[]): Caller {
  const { organizationId, podId, inboxUid: uid, address } = scope
  const usual = callerOf({ organization_id: organizationId })
  const caller: Caller = permissions
    ? { ...usual, credential: { ...usual.credential, permissions: [...permissions] } }
    : usual
  if (view === 'organization') return caller
  if (view === 'pod') return { ...caller, pod_id: podId, pod_in_path: true }
  return { ...caller, pod_id: podId, inbox: { uid, address, pod_id: podId, paused: false } }
}

async function send(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  const document: unknown = await response.json()
  if (response.ok) return { status: response.status, map: map.parse(document) }
  return { status: response.status, map: {}, refusal: refusal.parse(document) }
}
