import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { UPSTREAMS, type UpstreamName, variablePart } from '@restante/contracts/vocabulary'
import { ServiceClient } from '@restante/service/http'
import { serviceCommand } from '@restante/service/process'
import { freePort } from '@restante/service/testing'
import { z } from 'zod'
import { createDatabase } from '../engines/database.ts'
import { databaseEnvironment, engines } from '../engines/engines.ts'
import type { TestRedis } from '../engines/redis.ts'
import type { TestTopics } from '../engines/topics.ts'
import { waitFor } from '../timing/wait-for.ts'
import type { InboxScope } from './events.ts'

const GATEWAY = path.resolve(import.meta.dirname, '../../../../services/gateway')

/** Keys that the gateway of a suite shares with each other service. */
export const GATEWAY_KEYS = {
  caller: 'caller key of the tests, 32 bytes',
  peer: 'key of a pair in the tests, 32 b',
} as const

/** The topics that a gateway writes and reads, without which it is not ready. */
export const GATEWAY_TOPICS = [topics.tenancy, topics['apps.accounts']] as const

export interface GatewayProcessOptions {
  /** With `GATEWAY_TOPICS`, and those of the suite. */
  readonly topics: TestTopics
  readonly redis: TestRedis
  /** Base URLs of the upstream services that the suite runs; the others are unreachable. */
  readonly upstreams?: Readonly<Partial<Record<UpstreamName, string>>>
  /** Domain of the addresses of its inboxes. */
  readonly domain?: string
  /** The database of another gateway, of which this is a second process. Default: a database of its own. */
  readonly databaseUrl?: string
  /** Variables on top of what suites need. */
  readonly environment?: Readonly<Record<string, string>>
}

/** The gateway as a separate process, for suites of services that call it or are behind it. */
export class GatewayProcess {
  readonly url: string
  readonly databaseUrl: string
  readonly #name = randomUUID()
  readonly #database: { readonly url: string; drop?(): Promise<void> }
  readonly #peer: ServiceClient<'webhooks-dispatcher'>

  readonly #environment: Readonly<Record<string, string>>

  private constructor(
    url: string,
    database: { readonly url: string; drop?(): Promise<void> },
    environment: Readonly<Record<string, string>>,
  ) {
    this.url = url
    this.#environment = environment
    this.databaseUrl = database.url
    this.#database = database
    this.#peer = new ServiceClient({ from: 'webhooks-dispatcher', to: 'gateway', url, key: GATEWAY_KEYS.peer })
  }

  /** Resolves when it is ready. @throws Error with the reason when it does not start. */
  static async start(options: GatewayProcessOptions): Promise<GatewayProcess> {
    const [port, database] = await Promise.all([
      freePort(),
      options.databaseUrl === undefined ? createDatabase(GATEWAY) : { url: options.databaseUrl },
    ])
    const environment = environmentOf(options, database.url, port)
    const gateway = new GatewayProcess(`http://127.0.0.1:${port}`, database, environment)
    await ask({ kind: 'start', name: gateway.#name, environment })
    await waitFor(async () => (await fetch(`${gateway.url}/readyz`)).ok, {
      what: 'the gateway to be ready',
    })
    return gateway
  }

  /** Creates an organization with an unrestricted key. @param options of the operator's command, such as `--human`. */
  organization(...options: string[]): Promise<{ id: string; key: string }> {
    return createOrganization(this.#environment, ...options)
  }

  /**
   * Sends a request with a key. @returns the parsed body; `undefined` without one. @throws Error on an error response.
   */
  async request(key: string, method: string, target: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(this.url + target, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${target} was answered ${response.status}: ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }

  /** Creates an inbox in the default pod of an organization, or in another one. @returns it with its internal ids. */
  async addInbox(organization: { id: string; key: string }, podId = organization.id): Promise<InboxScope> {
    const made = await this.request(organization.key, 'POST', `/v0/pods/${podId}/inboxes`, {
      username: `i-${randomUUID()}`,
    })
    const address = String(made['inbox_id'])
    const lookup = { organization_id: organization.id, inboxes: [address], pods: [] }
    const [found] = (await this.#peer.call('gateway.lookupInboxes', lookup)).inboxes
    if (!found) throw new Error(`the gateway does not know ${address}`)
    return { organizationId: organization.id, podId, inboxUid: found.inbox_uid, address }
  }

  /** Creates another pod of an organization. @returns its id. */
  async addPod(organization: { key: string }): Promise<string> {
    const made = await this.request(organization.key, 'POST', '/v0/pods')
    return String(made['pod_id'])
  }

  async stop(): Promise<void> {
    await this.#peer.stop()
    await ask({ kind: 'stop', name: this.#name })
    await this.#database.drop?.()
  }
}

/** What a command of the operator came to. */
export interface Operated {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of the operator, `npm run admin --`, with the environment of a gateway. Nothing asks on a terminal. */
export async function attemptToOperate(
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Operated> {
  return operated.parse(await ask({ kind: 'operate', environment, words }))
}

/** The same. @returns what it prints. @throws Error with what it says when it fails. */
export async function operate(environment: Readonly<Record<string, string>>, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await attemptToOperate(environment, ...words)
  if (code !== 0) throw new Error(`${words.join(' ')}: exit ${code}: ${stderr}`)
  return stdout
}

/** Creates an organization with an unrestricted key, as the operator does. */
export async function createOrganization(
  environment: Readonly<Record<string, string>>,
  ...options: string[]
): Promise<{ id: string; key: string }> {
  const words = ['organizations', 'create', ...options, '--json']
  const made = organization.parse(JSON.parse(await operate(environment, ...words)))
  return { id: made.organization_id, key: made.api_key }
}

const operated = z.object({ code: z.int(), stdout: z.string(), stderr: z.string() })
const organization = z.object({ organization_id: z.string(), api_key: z.string() })
const answer = z.object({ id: z.int(), value: z.unknown(), failure: z.string().optional() })

/** The process that runs the gateways of this worker, from the first suite that needs one until the worker exits. */
class GatewayHost {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #count = 0

  constructor() {
    const [program, ...args] = serviceCommand(path.join(import.meta.dirname, 'gateway-host.ts'))
    const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc']
    this.#child = spawn(program, [...args, GATEWAY], { env: process.env, stdio })
    this.#child.on('message', (message) => this.#take(message))
    this.#child.once('exit', () => this.#fail(new Error('the process of the gateways ended')))
    // The process does not keep alive a worker that has run its files, and exits with it.
    this.#child.unref()
    this.#child.channel?.unref()
  }

  ask(command: object): Promise<unknown> {
    const id = ++this.#count
    const waiting = Promise.withResolvers<unknown>()
    this.#pending.set(id, waiting)
    this.#child.send({ ...command, id }, (error) => error && this.#settle(id)?.reject(error))
    return waiting.promise
  }

  #take(message: unknown): void {
    const { id, value, failure } = answer.parse(message)
    if (failure === undefined) this.#settle(id)?.resolve(value)
    else this.#settle(id)?.reject(new Error(`the gateway failed: ${failure}`))
  }

  #settle(id: number): PromiseWithResolvers<unknown> | undefined {
    const waiting = this.#pending.get(id)
    this.#pending.delete(id)
    return waiting
  }

  #fail(reason: Error): void {
    host = undefined
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(reason)
  }
}

let host: GatewayHost | undefined

function ask(command: object): Promise<unknown> {
  host ??= new GatewayHost()
  return host.ask(command)
}

function environmentOf(
  { topics, redis, upstreams = {}, domain = 'restante.test', environment }: GatewayProcessOptions,
  databaseUrl: string,
  port: number,
): Record<string, string> {
  const nobody = 'http://127.0.0.1:9'
  return {
    PORT: String(port),
    HOST: '127.0.0.1',
    INTERNAL_ON_PUBLIC_PORT: 'true',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    ...databaseEnvironment(databaseUrl),
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    KAFKA_BROKERS: engines.kafkaBrokers.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_MIN_INSYNC_REPLICAS: '1',
    TOPIC_PREFIX: topics.prefix,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DOCS_URL: 'http://docs.test',
    INSTALLATION_SECRET: 'the secret of this installation',
    CURSOR_SECRET: 'the secret of the page tokens',
    DEFAULT_DOMAIN: domain,
    // Suites of other services send more requests than an agent may, all from one address.
    RATE_LIMIT_EXEMPT_LOOPBACK: 'true',
    ...Object.fromEntries(
      UPSTREAMS.flatMap((service) => [
        [`${variablePart(service)}_URL`, upstreams[service] ?? nobody],
        [`CALLER_KEY_${variablePart(service)}`, GATEWAY_KEYS.caller],
        [`PEER_KEY_${variablePart(service)}`, GATEWAY_KEYS.peer],
      ]),
    ),
    ...environment,
  }
}
