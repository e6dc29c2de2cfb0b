import { randomInt } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { SERVICES, type ServiceName } from '@restante/contracts'
import { defaultDomain, serviceEnvironment } from '@restante/local/environment.ts'
import { listens } from '@restante/local/processes.ts'
import { openSecrets } from '@restante/local/secrets.ts'
import { type Listener, readSettings, root, type Settings } from '@restante/local/settings.ts'
import {
  createDatabase,
  createTopics,
  DnsZone,
  engines,
  openRedis,
  type TestDatabase,
  type TestTopics,
} from '@restante/testkit'
import { outsideNames } from './names.ts'
import type { Place } from './place.ts'
import { ServiceProcess } from './service-process.ts'

type ByService<T> = Record<ServiceName, T>

export interface SystemOptions {
  /** Variables of every service, over those of the system. */
  readonly environment?: Readonly<Record<string, string>>
  /** Arguments for Node itself, by service. */
  readonly nodeArguments?: (service: ServiceName) => readonly string[]
}

/** Listeners of the local stack; `captured-smtp` is the port of the mail exchanges outside. */
const LISTENERS: readonly Listener[] = [...SERVICES, 'smtp', 'captured-smtp']

/**
 * The whole system: every service as a process, on the real engines with databases, topics, keys, blobs and ports that
 * nobody else has. It differs from the local stack where its tests look: mail leaves for the exchange that a zone
 * names, senders are authenticated by that zone, and waits that last minutes elsewhere last seconds.
 */
export class System {
  readonly place: Place
  readonly #processes: ByService<ServiceProcess>
  readonly #zone: DnsZone
  readonly #close: () => Promise<void>

  private constructor(place: Place, processes: ByService<ServiceProcess>, zone: DnsZone, close: () => Promise<void>) {
    this.place = place
    this.#processes = processes
    this.#zone = zone
    this.#close = close
  }

  /** @param state folder for blobs and logs. Resolves when every service is ready. */
  static async start(state: string, options: SystemOptions = {}): Promise<System> {
    const settings = await chooseSettings(state)
    await mkdir(settings.logs, { recursive: true })
    const redis = openRedis()
    const [zone, databases, topics] = await Promise.all([
      new DnsZone().rule(outsideNames).start(),
      createDatabases(),
      createTopics(),
    ])
    const environments = await environmentsOf(settings, { zone, databases, topics, redisPrefix: redis.prefix })
    const processes = byService(
      (name) =>
        new ServiceProcess({
          name,
          environment: { ...environments[name], ...options.environment },
          nodeArguments: options.nodeArguments?.(name) ?? [],
          log: path.join(settings.logs, `${name}.log`),
        }),
    )
    const system = new System(placeOf(settings, environments, databases, topics), processes, zone, async () => {
      await Promise.all(SERVICES.map((name) => databases[name].drop()))
      await topics.delete()
      await redis.close()
    })
    try {
      for (const name of SERVICES) processes[name].start()
      await Promise.all(SERVICES.map((name) => processes[name].ready()))
    } catch (error) {
      await system.stop()
      throw error
    }
    return system
  }

  /** One of its processes, for tests that end it. */
  process(name: ServiceName): ServiceProcess {
    return this.#processes[name]
  }

  /** Ends every process and deletes what it had on the engines. */
  async stop(): Promise<void> {
    await Promise.all(SERVICES.map((name) => this.#processes[name].stop()))
    await this.#zone.stop()
    await this.#close()
  }
}

/** A block of ports that is free on this machine now. */
async function chooseSettings(state: string): Promise<Settings> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const offset = randomInt(4_000, 28_000)
    const settings = readSettings({ RESTANTE_STATE: state, RESTANTE_PORT_OFFSET: String(offset) })
    const taken = await Promise.all(LISTENERS.map((listener) => listens(settings.port(listener))))
    if (!taken.includes(true)) return settings
  }
  throw new Error('found no free block of ports')
}

async function createDatabases(): Promise<ByService<TestDatabase>> {
  const databases = await Promise.all(
    SERVICES.map(async (name) => [name, await createDatabase(path.join(root, 'services', name))] as const),
  )
  const found = new Map(databases)
  return byService((name) => {
    const database = found.get(name)
    if (!database) throw new Error(`${name} has no database`)
    return database
  })
}

interface OwnPlace {
  readonly zone: DnsZone
  readonly databases: ByService<TestDatabase>
  readonly topics: TestTopics
  readonly redisPrefix: string
}

async function environmentsOf(settings: Settings, own: OwnPlace): Promise<ByService<Record<string, string>>> {
  const secrets = await openSecrets(settings)
  const [DATABASE_URL, REDIS_URL] = [engines.databaseUrl, engines.redisUrl]
  const urls = { DATABASE_URL, REDIS_URL, KAFKA_BROKERS: engines.kafkaBrokers.join(',') }
  return byService((name) => {
    const { SMARTHOST, SMARTHOST_TLS, ...local } = serviceEnvironment(name, {
      settings,
      engines: urls,
      secretOf: secrets.of,
    })
    return {
      ...local,
      DATABASE_URL: own.databases[name].url,
      TOPIC_PREFIX: own.topics.prefix,
      REDIS_PREFIX: own.redisPrefix,
      DNS_SERVERS: own.zone.address,
      SENDER_AUTH: 'dns',
      MX_PORT: String(settings.port('captured-smtp')),
      MX_ALLOW_LOCAL: 'true',
      RETRY_FIRST: '300ms',
      RETRY_MOST: '1s',
      RETRY_FOR: '5s',
    }
  })
}

function placeOf(
  settings: Settings,
  environments: ByService<Record<string, string>>,
  databases: ByService<TestDatabase>,
  topics: TestTopics,
): Place {
  const gateway = settings.port('gateway')
  return {
    gatewayUrl: `http://127.0.0.1:${gateway}`,
    streamUrl: `ws://127.0.0.1:${gateway}/v0`,
    domain: defaultDomain,
    bounceDomain: `bounces.${defaultDomain}`,
    smtpPort: settings.port('smtp'),
    mxPort: settings.port('captured-smtp'),
    topicPrefix: topics.prefix,
    databases: byService((name) => databases[name].url),
    operator: environments.gateway,
    logs: settings.logs,
  }
}

function byService<T>(make: (name: ServiceName) => T): ByService<T> {
  return {
    gateway: make('gateway'),
    'mail-ingest': make('mail-ingest'),
    'mail-send': make('mail-send'),
    'webhooks-dispatcher': make('webhooks-dispatcher'),
    'websocket-fanout': make('websocket-fanout'),
  }
}
