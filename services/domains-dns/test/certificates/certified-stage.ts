import { topics } from '@restante/contracts/events'
import {
  createTopics,
  DnsZone,
  freePort,
  GatewayProcess,
  openRedis,
  Pebble,
  type PebbleOptions,
  waitFor,
} from '@restante/testkit'
import { newName, tenant } from '../support/fixture.ts'
import { type FoundCertificate, type Stage, startStage } from './stage.ts'

/** A stage with the authority `pebble`, and a real gateway as the edge that the tracked hosts lead to. */
export interface CertifiedStage extends Stage {
  readonly pebble: Pebble
  /** The DNS server of the authority. */
  readonly zone: DnsZone
  /** Port of the gateway for HTTPS of tracking hosts. */
  readonly httpsPort: number
  /** What makes the service use the authority. */
  readonly variables: Readonly<Record<string, string>>
  /** Registers a tracked domain whose host leads to the gateway. @returns its name. */
  reachable(owner?: ReturnType<typeof tenant>['owner'], name?: string): Promise<string>
  /** Waits for the certificate of a name. */
  certified(name: string): Promise<FoundCertificate>
}

export async function startCertifiedStage(
  options: Partial<PebbleOptions> = {},
  more: Readonly<Record<string, string>> = {},
): Promise<CertifiedStage> {
  const [httpPort, httpsPort, kafka] = [await freePort(), await freePort(), await createTopics([topics.tenancy])]
  const redis = openRedis()
  const zone = await new DnsZone().start()
  const pebble = await Pebble.start({ dns: zone.address, httpPort, ...options })
  const variables = { ACME_DIRECTORY: pebble.directory, ACME_CA_FILE: pebble.caFile, ...more }
  const stage = await startStage(variables)
  const gateway = await GatewayProcess.start({
    topics: kafka,
    redis,
    upstreams: { 'domains-dns': stage.fixture.url },
    environment: { TRACKING_HTTP_PORT: String(httpPort), TRACKING_HTTPS_PORT: String(httpsPort) },
  })
  return {
    ...stage,
    pebble,
    zone,
    httpsPort,
    variables,
    reachable(owner = tenant().owner, name = newName()) {
      zone.set(`link.${name}`, { type: 'A', address: '127.0.0.1' })
      return stage.tracked(owner, name)
    },
    certified: (name) => waitFor(() => stage.find(name), { what: `a certificate of ${name}` }),
    async stop() {
      await gateway.stop()
      await stage.stop()
      await Promise.all([pebble.stop(), zone.stop(), kafka.delete(), redis.close()])
    },
  }
}
