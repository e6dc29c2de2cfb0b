import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { isStoring, SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { defaultDomain, serviceEnvironment } from '@restante/local/environment.ts'
import { openSecrets } from '@restante/local/secrets.ts'
import { type Listener, listenerOf, readSettings, type Settings } from '@restante/local/settings.ts'
import { DnsZone, freePort } from '@restante/testkit'
import { Balancer } from './balancer.ts'
import { type ByService, byService } from './by-service.ts'
import type { Endpoints } from './endpoints.ts'
import { OPERATOR_PEER, outsideNames, peerDomain } from './names.ts'
import { type Resources, sharedResources } from './resources.ts'
import { ServiceProcess } from './service-process.ts'
import { present, type Sources } from './sources.ts'

export interface SystemOptions {
  /** Default: resources of its own on the engines of all tests. */
  readonly resources?: Resources
  /** The services that run, for a test that asks nothing of the others. Default: all of the release. */
  readonly services?: readonly ServiceName[]
  /** Processes of each service. Several are behind a load balancer. Default 1. */
  readonly replicas?: number
  /** Whether a process that dies is restarted. */
  readonly supervised?: boolean
  /** Variables of every service, which override those of the system. */
  readonly environment?: Readonly<Record<string, string>>
  /** The release that runs. Default: this one. */
  readonly sources?: Sources
  /** Arguments for Node itself, by service. */
  readonly nodeArguments?: (service: ServiceName) => readonly string[]
  /** Whether each process serves its metrics, on a port of its own. */
  readonly metrics?: boolean
}

/** Listeners of the local stack; `captured-smtp` is the port of the external MX hosts. */
const LISTENERS: readonly Listener[] = [...SERVICES, 'smtp', 'captured-smtp', 'sign-in']

/**
 * The whole system: every service as a process, on real engines with databases, topics, keys, blobs and ports of its
 * own. It differs from the local stack where tests need it: mail is sent to the MX hosts that a zone names, senders are
 * authenticated by that zone, and waits of minutes are reduced to seconds.
 */
export class System {
  readonly endpoints: Endpoints
  /** The folder of the data that its services store outside their databases. */
  readonly blobs: string
  readonly #processes: ByService<readonly ServiceProcess[]>
  readonly #balancer: Balancer
  readonly #parts: readonly { stop(): Promise<void> }[]

  private constructor(
    endpoints: Endpoints,
    state: string,
    processes: ByService<readonly ServiceProcess[]>,
    balancer: Balancer,
    parts: readonly { stop(): Promise<void> }[],
  ) {
    this.endpoints = endpoints
    this.blobs = path.join(state, 'blobs')
    this.#processes = processes
    this.#balancer = balancer
    this.#parts = parts
  }

  /** @param state folder for blobs and logs. Resolves when every service is ready. */
  static async start(state: string, options: SystemOptions = {}): Promise<System> {
    const { replicas = 1, supervised = false } = options
    const settings = await chooseSettings(state)
    // A single process of a service listens on the public port; several listen elsewhere, behind the balancer.
    const listening =
      replicas === 1 ? [settings] : await Promise.all(Array.from({ length: replicas }, () => chooseSettings(state)))
    await mkdir(settings.logs, { recursive: true })
    const [zone, resources] = await Promise.all([
      new DnsZone().rule(outsideNames).start(),
      options.resources ?? sharedResources(),
    ])
    const { services = SERVICES } = options
    // Of some services the gateway is ready without the others.
    const alone = services.length < SERVICES.length && { READY_INCLUDES_UPSTREAMS: 'false' }
    const environments = await environmentsOf(settings, resources, zone, { ...alone, ...options.environment })
    const metricsPorts = options.metrics
      ? await Promise.all(SERVICES.flatMap(() => listening.map(() => freePort())))
      : []
    const processes = byService((name) =>
      (services.includes(name) ? listening : []).map(
        (own, replica) =>
          new ServiceProcess({
            name,
            environment: { ...environments[name], ...portsOf(name, own), ...metricsAt(metricsPorts.pop()) },
            nodeArguments: options.nodeArguments?.(name) ?? [],
            ...(options.sources && { sources: options.sources }),
            log: path.join(settings.logs, replica === 0 ? `${name}.log` : `${name}-${replica + 1}.log`),
          }),
      ),
    )
    const parts = [zone, { stop: () => resources.clear() }]
    const balancer = new Balancer({
      front: settings,
      back: listening,
      services: (options.sources ?? present).services,
      folder: state,
    })
    if (replicas > 1) parts.unshift(balancer)
    const system = new System(endpointsOf(settings, environments, resources), state, processes, balancer, parts)
    try {
      const all = system.processes()
      for (const each of all) supervised ? each.supervise() : each.start()
      // The gateway is ready when it reaches the other services, through the balancer.
      await Promise.all([...all.map((each) => each.ready()), ...(replicas > 1 ? [balancer.start()] : [])])
    } catch (error) {
      await system.stop()
      throw error
    }
    return system
  }

  /** One of its processes, for tests that end it. */
  process(name: ServiceName, replica = 0): ServiceProcess {
    const process = this.#processes[name][replica]
    if (!process) throw new Error(`${name} has no process ${replica}`)
    return process
  }

  processes(): ServiceProcess[] {
    return SERVICES.flatMap((name) => this.#processes[name])
  }

  /** Resolves when new connections go to a process that is ready, which the balancer learns a moment later. */
  routed(name: ServiceName, replica: number): Promise<void> {
    return this.#balancer.routed(name, replica)
  }

  /** Stops every process and deletes its resources on the engines. */
  async stop(): Promise<void> {
    await Promise.all(this.processes().map((process) => process.stop()))
    for (const part of this.#parts) await part.stop()
  }
}

/** Ports of its own, which nothing else of this run chooses. */
async function chooseSettings(state: string): Promise<Settings> {
  const variables = LISTENERS.map((listener) => `RESTANTE_${listener.replaceAll('-', '_').toUpperCase()}_PORT`)
  const ports = await Promise.all(variables.map(async (name) => [name, String(await freePort())]))
  return readSettings({ RESTANTE_STATE: state, ...Object.fromEntries(ports) })
}

function portsOf(name: ServiceName, settings: Settings): Record<string, string> {
  return {
    PORT: String(settings.port(listenerOf(name))),
    ...(name === 'mail-ingest' && { SMTP_PORT: String(settings.port('smtp')) }),
    ...(name === 'apps-signin' && { AUTH_PORT: String(settings.port('sign-in')) }),
  }
}

function metricsAt(port: number | undefined): Record<string, string> {
  return port === undefined ? {} : { METRICS_PORT: String(port) }
}

async function environmentsOf(
  settings: Settings,
  resources: Resources,
  zone: DnsZone,
  more: Readonly<Record<string, string>> = {},
): Promise<ByService<Record<string, string>>> {
  const secrets = await openSecrets(settings)
  return byService((name) => {
    const { SMARTHOST, SMARTHOST_TLS, ...local } = serviceEnvironment(name, {
      settings,
      engines: resources.urls,
      secretOf: secrets.of,
    })
    return {
      ...local,
      ...(isStoring(name) && { DATABASE_URL: resources.databases[name] }),
      TOPIC_PREFIX: resources.topicPrefix,
      REDIS_PREFIX: resources.redisPrefix,
      DNS_SERVERS: zone.address,
      SENDER_AUTH: 'dns',
      MX_PORT: String(settings.port('captured-smtp')),
      MX_ALLOW_LOCAL: 'true',
      RETRY_FIRST: '300ms',
      RETRY_MOST: '1s',
      RETRY_FOR: '5s',
      OPERATOR_ADDRESS: `operator@${peerDomain(...OPERATOR_PEER)}`,
      ...more,
    }
  })
}

function endpointsOf(
  settings: Settings,
  environments: ByService<Record<string, string>>,
  resources: Resources,
): Endpoints {
  const gateway = settings.port('gateway')
  return {
    gatewayUrl: `http://127.0.0.1:${gateway}`,
    signInUrl: `http://localhost:${settings.port('sign-in')}`,
    streamUrl: `ws://127.0.0.1:${gateway}/v0`,
    domain: defaultDomain,
    bounceDomain: `bounces.${defaultDomain}`,
    smtpPort: settings.port('smtp'),
    mxPort: settings.port('captured-smtp'),
    topicPrefix: resources.topicPrefix,
    databases: resources.databases,
    operator: environments.gateway,
    logs: settings.logs,
  }
}
