import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { promisify } from 'node:util'
import { UPSTREAMS, type UpstreamName, variablePart } from '@restante/contracts'
import { ServiceClient, serviceCommand } from '@restante/service'
import { createDatabase } from './database.ts'
import { engines } from './engines.ts'
import type { InboxScope } from './events.ts'
import type { TestRedis } from './redis.ts'
import { freePort } from './services.ts'
import type { TestTopics } from './topics.ts'
import { waitFor } from './wait-for.ts'

const GATEWAY = path.resolve(import.meta.dirname, '../../../services/gateway')

/** Keys that the gateway of a suite shares with each service beside it. */
export const GATEWAY_KEYS = {
  caller: 'caller key of the tests, 32 bytes',
  peer: 'key of a pair in the tests, 32 b',
} as const

export interface GatewayProcessOptions {
  readonly topics: TestTopics
  readonly redis: TestRedis
  /** Base URLs of the services behind it that the suite runs; the others are not there. */
  readonly upstreams?: Readonly<Partial<Record<UpstreamName, string>>>
  /** Of the addresses of its inboxes. */
  readonly domain?: string
  /** The database of another one, of which this is a second process; otherwise it gets its own. */
  readonly databaseUrl?: string
}

/** The gateway as a process of its own, for suites of services that ask it or stand behind it. */
export class GatewayProcess {
  readonly url: string
  readonly databaseUrl: string
  readonly #child: ChildProcess
  readonly #database: { readonly url: string; drop?(): Promise<void> }
  readonly #environment: NodeJS.ProcessEnv
  readonly #peer: ServiceClient<'webhooks-dispatcher'>

  private constructor(
    url: string,
    child: ChildProcess,
    database: { readonly url: string; drop?(): Promise<void> },
    environment: NodeJS.ProcessEnv,
  ) {
    this.url = url
    this.databaseUrl = database.url
    this.#child = child
    this.#database = database
    this.#environment = environment
    this.#peer = new ServiceClient({ from: 'webhooks-dispatcher', to: 'gateway', url, key: GATEWAY_KEYS.peer })
  }

  /** Resolves when it is ready. @throws Error with what it wrote when it ends instead. */
  static async start(options: GatewayProcessOptions): Promise<GatewayProcess> {
    const port = await freePort()
    const database = options.databaseUrl === undefined ? await createDatabase(GATEWAY) : undefined
    const databaseUrl = database?.url ?? options.databaseUrl ?? ''
    const environment = { ...process.env, ...environmentOf(options, databaseUrl, port) }
    const [program, ...args] = serviceCommand(path.join(GATEWAY, 'src/main.ts'))
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    const output: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(String(chunk)))
    const gateway = new GatewayProcess(
      `http://127.0.0.1:${port}`,
      child,
      { url: databaseUrl, ...database },
      environment,
    )
    await waitFor(
      async () => {
        if (child.exitCode !== null) return true
        return (await fetch(`${gateway.url}/readyz`)).ok
      },
      { what: 'the gateway to be ready', timeout: 30_000 },
    )
    if (child.exitCode !== null) throw new Error(`the gateway ended:\n${output.join('')}`)
    return gateway
  }

  /** A new organization and its unrestricted key, made with the operator's command line. */
  async organization(): Promise<{ id: string; key: string }> {
    const [program, ...args] = serviceCommand(path.join(GATEWAY, 'src/admin/main.ts'))
    const words = [...args, 'organizations', 'create']
    const { stdout } = await promisify(execFile)(program, words, { env: this.#environment })
    const [, id] = /^Organization (\S+)/m.exec(stdout) ?? []
    const [, key] = /^API key\s+(\S+)/m.exec(stdout) ?? []
    if (id === undefined || key === undefined) throw new Error(`the operator's command line answered:\n${stdout}`)
    return { id, key }
  }

  /** One request with a key. @returns the parsed body; `undefined` when there is none. @throws Error on a refusal. */
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

  /** A new inbox of an organization, in its default pod or another one, with the identity that its owner knows it by. */
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

  /** A further pod of an organization. @returns its id. */
  async addPod(organization: { key: string }): Promise<string> {
    const made = await this.request(organization.key, 'POST', '/v0/pods')
    return String(made['pod_id'])
  }

  async stop(): Promise<void> {
    await this.#peer.stop()
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit')
      // The interrupt of a terminal: the drain without the wait for load balancers.
      this.#child.kill('SIGINT')
      await ended
    }
    await this.#database.drop?.()
  }
}

function environmentOf(
  { topics, redis, upstreams = {}, domain = 'restante.test' }: GatewayProcessOptions,
  databaseUrl: string,
  port: number,
): Record<string, string> {
  const nobody = 'http://127.0.0.1:9'
  return {
    PORT: String(port),
    HOST: '127.0.0.1',
    INTERNAL_ON_PUBLIC_PORT: 'true',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn',
    DATABASE_URL: databaseUrl,
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
    // Suites of other services ask for more than one agent may, and all come from one address.
    RATE_LIMIT_SPARES_LOOPBACK: 'true',
    ...Object.fromEntries(
      UPSTREAMS.flatMap((service) => [
        [`${variablePart(service)}_URL`, upstreams[service] ?? nobody],
        [`CALLER_KEY_${variablePart(service)}`, GATEWAY_KEYS.caller],
        [`PEER_KEY_${variablePart(service)}`, GATEWAY_KEYS.peer],
      ]),
    ),
  }
}
