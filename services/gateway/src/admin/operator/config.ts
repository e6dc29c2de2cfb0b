import { userInfo } from 'node:os'
import { databaseVariables, peersOf, peerVariables } from '@restante/kit'
import type { z } from 'zod'
import { configuration } from '../../config.ts'
import { credentialVariables } from '../../credentials/variables.ts'

/** The part of the gateway's environment that the command line needs. */
export const environment = databaseVariables
  .pick({ DATABASE_URL: true, DATABASE_DIRECT_URL: true, DATABASE_PREPARED_STATEMENTS: true, ENGINE_CA_FILE: true })
  .extend(credentialVariables.variables.shape)

export function configure(given: z.output<typeof environment>) {
  return {
    database: {
      url: given.DATABASE_URL,
      directUrl: given.DATABASE_DIRECT_URL,
      prepared: given.DATABASE_PREPARED_STATEMENTS,
      trust: given.ENGINE_CA_FILE,
    },
    ...credentialVariables.configure(given),
    operator: userName(),
  }
}
export type OperatorConfig = ReturnType<typeof configure>

const QUEUE_OWNER = ['mail-send'] as const

/** The part that commands on the outbound queue need. */
export const queueEnvironment = peerVariables(QUEUE_OWNER)

export function configureQueue(given: z.output<typeof queueEnvironment>) {
  return { mailSend: peersOf(QUEUE_OWNER, given).of('mail-send'), operator: userName() }
}
export type QueueConfig = ReturnType<typeof configureQueue>

const LOG_OWNER = ['webhooks-dispatcher'] as const

/** The part that commands on webhooks need. */
export const webhookLogEnvironment = peerVariables(LOG_OWNER)

export function configureWebhookLog(given: z.output<typeof webhookLogEnvironment>) {
  return { dispatcher: peersOf(LOG_OWNER, given).of('webhooks-dispatcher'), operator: userName() }
}
export type WebhookLogConfig = ReturnType<typeof configureWebhookLog>

const DOMAIN_OWNERS = ['domains-dns', 'mail-ingest'] as const

/** The part that commands on custom domains need. */
export const domainsEnvironment = peerVariables(DOMAIN_OWNERS)

export function configureDomains(given: z.output<typeof domainsEnvironment>) {
  const peers = peersOf(DOMAIN_OWNERS, given)
  return { domainsDns: peers.of('domains-dns'), mailIngest: peers.of('mail-ingest'), operator: userName() }
}
export type DomainsConfig = ReturnType<typeof configureDomains>

const APPS_OWNER = ['apps-signin'] as const

/** The part that commands on apps need. */
export const appsEnvironment = peerVariables(APPS_OWNER)

export function configureApps(given: z.output<typeof appsEnvironment>) {
  return { appsSignin: peersOf(APPS_OWNER, given).of('apps-signin'), operator: userName() }
}
export type AppsConfig = ReturnType<typeof configureApps>

const METRICS_OWNER = ['metrics'] as const

/** The part that commands on metrics need. */
export const metricsEnvironment = peerVariables(METRICS_OWNER)

export function configureMetrics(given: z.output<typeof metricsEnvironment>) {
  return { metrics: peersOf(METRICS_OWNER, given).of('metrics'), operator: userName() }
}
export type MetricsConfig = ReturnType<typeof configureMetrics>

/** Repairs need everything that the gateway has. */
export function configureInstallation(source: Readonly<Record<string, string | undefined>>) {
  const { database, kafka, peers, retiredAddressMs, addresses } = configuration.read(source)
  const { sharedDomains } = addresses
  return { database, kafka, peerOf: peers.of.bind(peers), retiredAddressMs, sharedDomains, operator: userName() }
}

/** The logged-in user, for the audit log and the logs of other services. A container may run under a user id that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
