import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import {
  type AppSettings,
  type InternalOperationId,
  internalOperations,
  type RegisteredApp,
} from '@restante/contracts/internal'
import { type OperationId, operations } from '@restante/contracts/operations'
import { Outbox } from '@restante/messaging'
import { Database } from '@restante/service/database'
import {
  callerHeaders,
  collectTopic,
  createDatabase,
  createTopics,
  EventPublisher,
  engines,
  freePort,
  peerHeaders,
  randomName,
  startService,
  type TopicCollection,
} from '@restante/testkit'
import { service as appsSignin } from '../../src/main.ts'
import { FakeGateway } from './fake-gateway.ts'

const CALLER_KEY = 'caller key of the tests, 32 bytes'
const PEER_KEY = 'key of a pair in the tests, 32 b'

/** A response read to its end; `body` is the JSON document, or `{}` where there is none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface CallOptions {
  /** Values for the segments in braces. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A registered app with its secret. */
export interface TestApp extends RegisteredApp {
  readonly client_secret: string
}

/** apps-signin on real engines, with the gateway faked at its wire. */
export interface AppsSigninFixture {
  readonly env: Readonly<Record<string, string>>
  /** Base URL of the operations. */
  readonly url: string
  /** Origin of the provider and its pages. */
  readonly authBase: string
  readonly db: Database
  /** For work that a test does in place of a route. */
  readonly outbox: Outbox
  readonly gateway: FakeGateway
  readonly events: EventPublisher
  /** What the service publishes. */
  readonly published: TopicCollection
  /** One request as the gateway forwards it for a caller. */
  call(operation: OperationId, caller: Caller, options?: CallOptions): Promise<Answer>
  /** One internal call of the gateway. */
  internal(operation: InternalOperationId, body: unknown): Promise<Answer>
  /** Registers an app, listed and connectable unless told otherwise, and fails unless it was registered. */
  app(settings?: Partial<AppSettings>): Promise<TestApp>
  /** Stops the service as an operator would, and starts another one on the same data. */
  restart(overrides?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
}

/** Settings of an app that can be connected. */
export function appSettings(overrides: Partial<AppSettings> = {}): AppSettings {
  const name = randomName()
  return {
    name: `App ${name}`,
    description: null,
    logo_url: null,
    terms_url: null,
    privacy_url: null,
    categories: [],
    slug: `app-${name}`.toLowerCase(),
    listed: true,
    native: false,
    redirect_uris: ['https://app.example/callback'],
    initiate_login_uri: 'https://app.example/login',
    scopes: ['openid', 'email', 'profile'],
    token_endpoint_auth_method: 'client_secret_basic',
    owner_signup_limit: null,
    disclosure: null,
    disclosure_version: 1,
    ...overrides,
  }
}

/** @param overrides environment on top of what the tests need. */
export async function startAppsSignin(overrides: Readonly<Record<string, string>> = {}): Promise<AppsSigninFixture> {
  const [database, kafka, port, authPort, gateway] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics([topics.tenancy, topics['apps.accounts']]),
    freePort(),
    freePort(),
    new FakeGateway().start(),
  ])
  const authBase = `http://localhost:${authPort}`
  const env = {
    PORT: String(port),
    HOST: '127.0.0.1',
    AUTH_PORT: String(authPort),
    AUTH_BASE: authBase,
    DATABASE_URL: database.url,
    PUBLIC_URL: 'http://public.test',
    DOCS_URL: 'http://docs.test',
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: kafka.prefix,
    GATEWAY_URL: gateway.url,
    PEER_KEY_GATEWAY: PEER_KEY,
    CALLER_KEY,
    CURSOR_SECRET: 'the secret of the page tokens',
    ENCRYPTION_KEY: 'the key of the stored secrets',
    SUBJECT_SECRET: 'the secret of the subjects, 32 b',
    OPEN_CLIENTS: 'true',
    ...overrides,
  }
  const config = appsSignin.configure(env)
  const db = new Database({ ...config.database, applicationName: 'test' })
  const events = new EventPublisher(kafka.kafka)
  const published = await collectTopic(kafka.kafka, 'apps.accounts')
  let running = await startService(appsSignin, config)
  const url = `http://127.0.0.1:${port}`

  const internal: AppsSigninFixture['internal'] = (operation, body) => {
    const headers = peerHeaders('gateway', 'apps-signin', PEER_KEY, operation)
    return send('POST', `${url}${internalOperations[operation].path}`, headers, body)
  }
  return {
    env,
    url,
    authBase,
    db,
    outbox: new Outbox({ db, service: 'apps-signin' }),
    gateway,
    events,
    published,
    internal,
    call(operation, caller, { params = {}, query = '', body, headers = {} } = {}) {
      const { method, path: template } = operations[operation]
      const target = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
      const all = { ...callerHeaders('apps-signin', CALLER_KEY, operation, caller), ...headers }
      return send(method, `${url}${target}${query}`, all, body)
    },
    async app(settings) {
      const given = { app_id: randomUUID(), settings: appSettings(settings), operator: 'tester' }
      const { status, body } = await internal('apps-signin.createApp', given)
      const made = internalOperations['apps-signin.createApp'].response.parse(body)
      if (made.outcome !== 'done') throw new Error(`the app was refused with ${status}: ${JSON.stringify(body)}`)
      return { ...made.app, client_secret: made.client_secret ?? '' }
    },
    async restart(more = {}) {
      await running.stop()
      running = await startService(appsSignin, appsSignin.configure({ ...env, ...more }))
    },
    async stop() {
      await running.stop()
      await Promise.all([published.stop(), events.stop(), gateway.stop(), db.stop()])
      await kafka.delete()
      await database.drop()
    },
  }
}

async function send(method: string, url: string, headers: Record<string, string>, body: unknown): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}
