import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { type ServiceName, STORING_SERVICES } from '@restante/contracts/vocabulary'
import { checkTopics, Kafka } from '@restante/messaging'
import { Database, sqlUnprepared } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import type { Endpoints } from '@restante/test-e2e/stack/endpoints.ts'
import { outsideNames } from '@restante/test-e2e/stack/names.ts'
import { DnsZone, freePort } from '@restante/testkit'
import { environmentOf, generatedSecrets } from '../support/environment.ts'
import { type Manifest, ofKind, render } from '../support/rendering.ts'
import { containerOf } from '../support/workloads.ts'
import { type Engines, startEngines } from './engines.ts'
import { applyKafkaObjects } from './kafka-objects.ts'
import { Pod, runJob } from './pods.ts'

const DOMAIN = 'restante.test'
const CA_FILE = /\/etc\/restante\/engines\/ca\.crt/g

/** The address of each pod: the network of the cluster on this machine. */
const addressOf = (index: number) => `127.77.0.${index + 1}`

/**
 * An installation that runs as the chart renders it: the Jobs, then a process for each Deployment, with the commands and
 * the environment of the manifests, the Secrets that the operator's command prints, and the topics and ACLs of the
 * KafkaTopics and KafkaUsers, on engines that accept TLS and authentication only. What differs is what a cluster's network does: names of Services are
 * addresses of loopback.
 */
export class RenderedInstallation {
  readonly endpoints: Endpoints
  readonly engines: Engines
  readonly #pods: readonly Pod[]
  readonly #zone: DnsZone

  private constructor(endpoints: Endpoints, engines: Engines, pods: readonly Pod[], zone: DnsZone) {
    this.endpoints = endpoints
    this.engines = engines
    this.#pods = pods
    this.#zone = zone
  }

  static async start(): Promise<RenderedInstallation> {
    const named = await render({ values: STRIMZI })
    const users = [...ofKind(named, 'KafkaUser').keys()]
    const [engines, zone, smtpPort, mxPort] = await Promise.all([
      startEngines(users),
      new DnsZone().rule(outsideNames).start(),
      freePort(),
      freePort(),
    ])
    const logs = path.join(engines.foundation.folder, 'logs')
    await mkdir(logs)
    const manifests = await render({ values: valuesOf(engines, zone, mxPort) })
    const secrets = await secretsOf(engines, users)
    const deployments = [...ofKind(manifests, 'Deployment').values()]
    const network = networkOf(deployments, { ENGINE_CA_FILE: engines.foundation.authority.file })
    await applyKafkaObjects(engines.broker.kafka.admin, manifests)
    await runJobs(manifests, secrets, network.translated)
    const places = deployments.map((deployment, index) => {
      const service = containerOf(deployment).name
      const own = { HOST: addressOf(index), SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtpPort) }
      const environment: Record<string, string> = {
        ...network.translated(environmentOf(deployment, manifests, secrets)),
        ...own,
      }
      return { service, environment, pod: new Pod(service, environment, logs) }
    })
    const environmentOfService = (name: string) => {
      const found = places.find(({ service }) => service === name)?.environment
      if (found === undefined) throw new Error(`the chart renders no ${name}`)
      return found
    }
    const gateway = environmentOfService('gateway')
    const signIn = environmentOfService('apps-signin')
    const gatewayUrl = `http://${gateway['HOST']}:${gateway['PORT']}`
    const endpoints: Endpoints = {
      gatewayUrl,
      streamUrl: `${gatewayUrl.replace('http:', 'ws:')}/v0`,
      signInUrl: `http://${signIn['HOST']}:${signIn['AUTH_PORT']}`,
      domain: DOMAIN,
      bounceDomain: `bounces.${DOMAIN}`,
      smtpPort,
      mxPort,
      topicPrefix: '',
      databases: databasesOf(engines),
      operator: gateway,
      logs,
    }
    const installation = new RenderedInstallation(
      endpoints,
      engines,
      places.map(({ pod }) => pod),
      zone,
    )
    try {
      await Promise.all(
        places.map(({ pod, environment }) => pod.start(`http://${environment['HOST']}:${environment['PORT']}`)),
      )
    } catch (error) {
      await installation.#stopProcesses()
      throw error
    }
    return installation
  }

  /** Connections of services by whether they use TLS, as PostgreSQL knows them. */
  async encryptedConnections(): Promise<{ readonly encrypted: number; readonly plain: number }> {
    const { stores, foundation } = this.engines
    const db = new Database({ url: stores.postgres.verified(), trust: foundation.trust, applicationName: 'test' })
    const rows = await db.query(
      sqlUnprepared<{ encrypted: number; plain: number }>(
        `select count(*) filter (where ssl)::int as encrypted, count(*) filter (where not ssl)::int as plain
         from pg_stat_ssl join pg_stat_activity using (pid) where client_addr is not null`,
      ),
    )
    await db.stop()
    return rows[0] ?? { encrypted: 0, plain: 0 }
  }

  /** The number of objects in the bucket. */
  async storedObjects(): Promise<number> {
    const { foundation, bucket } = this.engines
    const folder = path.join(foundation.folder, 'object-store/buckets', bucket.name)
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).length
  }

  /** Writes a record that is no event, as the user of a service. */
  async publish(service: ServiceName, topic: string): Promise<void> {
    const producer = this.#kafkaAs(service).producer()
    await producer.connect()
    try {
      await producer.send({ topic, messages: [{ key: 'test', value: 'no event' }] })
    } finally {
      await producer.disconnect()
    }
  }

  /** What is not as services expect it of the topics, as the user for an operator's commands sees them. */
  differencesOfTopics(): Promise<string[]> {
    return checkTopics(this.#kafkaAs('operator'), Object.values(topics))
  }

  #kafkaAs(user: ServiceName | 'operator'): Kafka {
    const { broker, foundation } = this.engines
    const username = `restante-${user}-kafka`
    return new Kafka({
      brokers: [broker.kafka.brokers.scram],
      clientId: 'test',
      ssl: true,
      trust: foundation.trust,
      sasl: { mechanism: 'scram-sha-512', username, password: broker.users[username] ?? '' },
      replication: 1,
      minInsyncReplicas: 1,
      log: createLogger({ service: 'test', level: 'silent' }),
    })
  }

  async stop(): Promise<void> {
    await this.#stopProcesses()
    await this.engines.stop()
  }

  async #stopProcesses(): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod.stop()))
    await this.#zone.stop()
  }
}

const STRIMZI = { strimzi: { cluster: 'events', topics: { enabled: true }, users: { enabled: true } } }

/** The values that the operator of this installation would write. */
function valuesOf({ broker, bucket }: Engines, zone: DnsZone, mxPort: number): object {
  return {
    ...STRIMZI,
    settings: {
      PUBLIC_URL: `http://${addressOf(0)}:3000`,
      AUTH_BASE: 'https://signin.example.com',
      DEFAULT_DOMAIN: DOMAIN,
      OPERATOR_ADDRESS: 'operator@example.net',
      KAFKA_BROKERS: broker.kafka.brokers.scram,
      KAFKA_SSL: true,
      KAFKA_REPLICATION: 1,
      KAFKA_MIN_INSYNC_REPLICAS: 1,
      DNS_SERVERS: zone.address,
      ALLOW_HTTP_URLS: true,
      ALLOW_LOOPBACK_URLS: true,
      MX_PORT: mxPort,
      MX_ALLOW_LOCAL: true,
      RATE_LIMIT_EXEMPT_LOOPBACK: true,
    },
    engineCa: { secretName: 'engines' },
    blobs: { s3: { bucket: bucket.name, endpoint: bucket.endpoint, region: bucket.region } },
    services: { 'domains-dns': { settings: { ALLOW_SPECIAL_USE_DOMAINS: true } } },
  }
}

/** The Secrets of the installation, and those that Strimzi makes for its users. */
async function secretsOf({ stores, broker, keys }: Engines, users: readonly string[]) {
  const own = await generatedSecrets(
    ...['--database-url', stores.postgres.verified('{service}').replaceAll('%7B', '{').replaceAll('%7D', '}')],
    ...['--redis-url', stores.redis.url],
    ...['mail-ingest', 'mail-send'].flatMap((service) => [
      ...['--set', `${service}.AWS_ACCESS_KEY_ID=${keys.accessKeyId}`],
      ...['--set', `${service}.AWS_SECRET_ACCESS_KEY=${keys.secretAccessKey}`],
    ]),
  )
  const ofUsers = users.map((user): [string, Record<string, string>] => [user, { password: broker.users[user] ?? '' }])
  return new Map([...own, ...ofUsers])
}

/** Names of Services, and files of Secrets that are mounted, as this machine knows them. */
function networkOf(deployments: readonly Manifest[], files: { readonly ENGINE_CA_FILE: string }) {
  const addresses = new Map(deployments.map((object, index) => [object.metadata.name, addressOf(index)]))
  return {
    translated: (environment: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(
        Object.entries(environment).map(([name, value]) => {
          const local = value.replace(/^(https?:\/\/)([a-z-]+)(?=[:/]|$)/, (whole, scheme, host) => {
            const address = addresses.get(host)
            return address === undefined ? whole : `${scheme}${address}`
          })
          return [name, local.replace(CA_FILE, files.ENGINE_CA_FILE)]
        }),
      ),
  }
}

/** The hooks of the release, in the order of their weights. */
async function runJobs(
  manifests: readonly Manifest[],
  secrets: ReadonlyMap<string, Record<string, string>>,
  translated: (environment: Record<string, string>) => Record<string, string>,
): Promise<void> {
  const weightOf = ({ metadata }: Manifest) => Number(metadata.annotations['helm.sh/hook-weight'] ?? 0)
  const jobs = [...ofKind(manifests, 'Job').values()].sort((one, other) => weightOf(one) - weightOf(other))
  for (const job of jobs)
    await runJob(containerOf(job).command ?? [], translated(environmentOf(job, manifests, secrets)))
}

function databasesOf({ stores }: Engines): Endpoints['databases'] {
  const url = (service: string) => stores.postgres.verified(service)
  const [gateway, ingest, send, webhooks, stream, domains, signIn, calendar, metrics] = STORING_SERVICES.map(url)
  return {
    gateway: gateway ?? '',
    'mail-ingest': ingest ?? '',
    'mail-send': send ?? '',
    'webhooks-dispatcher': webhooks ?? '',
    'websocket-fanout': stream ?? '',
    'domains-dns': domains ?? '',
    'apps-signin': signIn ?? '',
    calendar: calendar ?? '',
    metrics: metrics ?? '',
  }
}
