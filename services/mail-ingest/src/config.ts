import { isIP } from 'node:net'
import { parseBlobStore } from '@restante/blobs'
import { LIMITS } from '@restante/contracts'
import { callerEnvironment, commonConfiguration, commonEnvironment, env } from '@restante/service'
import { z } from 'zod'

const ROLES = ['smtp', 'pipeline', 'api'] as const
/** Parts of the service that can run as processes of their own. */
export type Role = (typeof ROLES)[number]

const roles = env.list(ROLES.join(',')).pipe(z.array(z.enum(ROLES, { error: `must name ${ROLES.join(', ')}` })).min(1))

const dnsServers = env
  .list()
  .pipe(z.array(z.string().refine(isDnsServer, 'must hold addresses such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53')))

const blobStore = env.string().transform((text, context) => {
  try {
    return parseBlobStore(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    return z.NEVER
  }
})

function isDnsServer(text: string): boolean {
  const host = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([^:]+):\d+$/, '$1')
  return isIP(host) !== 0
}

const rate = (fallback: number) => env.integer(fallback, Number.MAX_SAFE_INTEGER, 1)

const variables = commonEnvironment.extend(callerEnvironment.shape).extend({
  PORT: env.port(3001).describe('HTTP port of this service'),
  ROLES: roles.describe('Parts that this process runs: smtp, pipeline, api'),
  BLOB_STORE: blobStore.describe('directory:/path or s3://bucket/prefix; shared with mail-send'),
  DEFAULT_DOMAIN: env.string().describe('Domain that every organization may have inboxes on'),
  BOUNCE_DOMAIN: env.string().optional().describe('Domain of our return paths; default bounces.<DEFAULT_DOMAIN>'),
  PUBLIC_URL: env.url().describe('Base of the download links: where the gateway is reached from outside'),
  DOCS_URL: env.url().optional().describe('Base of the docs links in errors; default <PUBLIC_URL>/docs'),
  CURSOR_SECRET: env.secret().describe('Seals page tokens; the same for all replicas'),
  LINK_SECRET: env.secret().describe('Signs download links'),
  RETURN_PATH_SECRET: env.secret().describe('Signs return paths; the same as in mail-send'),
  GATEWAY_URL: env.url().describe('Base URL of the gateway inside'),
  PEER_KEY_GATEWAY: env.secret().describe('Key shared with the gateway'),
  MAIL_SEND_URL: env.url().describe('Base URL of mail-send inside'),
  PEER_KEY_MAIL_SEND: env.secret().describe('Key shared with mail-send'),

  SMTP_PORT: env.port(2525).describe('Port of the SMTP server'),
  SMTP_HOST: env.string('0.0.0.0').describe('Address the SMTP server listens on'),
  SMTP_NAME: env.string().optional().describe('Name in greeting and trace headers; default mx.<DEFAULT_DOMAIN>'),
  SMTP_TLS_CERT: env.string().optional().describe('PEM file of the certificate chain; self-signed when absent'),
  SMTP_TLS_KEY: env.string().optional().describe('PEM file of its key'),
  SMTP_MAX_CONNECTIONS: env.integer(500, 100_000).describe('Open SMTP connections of this process'),
  SMTP_PEER_CONNECTIONS: env.integer(20, 100_000).describe('Open connections of one peer (IPv4 address, IPv6 /64)'),
  SMTP_MAX_RECIPIENTS: env.integer(100, 10_000).describe('Recipients of one transaction; more get 452'),
  SMTP_IDLE_TIMEOUT: env
    .duration('5m')
    .describe('A peer is disconnected when its next command or TLS handshake takes longer (RFC 5321 4.5.3.2.7)'),
  SMTP_CROWDED_TIMEOUT: env.duration('10s').describe('The same while over 80% of SMTP_MAX_CONNECTIONS are open'),
  SMTP_MIN_RATE: env
    .integer(500, 1_000_000)
    .describe('Bytes per second that a mail has to come with, on average and after that time'),

  REDIS_URL: env.url().optional().describe('Redis of the queues'),
  REDIS_CACHE_URL: env
    .url()
    .optional()
    .describe(
      'Redis that counts arriving mail for all replicas; default: REDIS_URL; each counts for itself without both',
    ),
  REDIS_PREFIX: env.string('restante').describe('In front of every key in Redis'),
  INBOUND_NETWORK_MAILS: rate(LIMITS.inbound.networkMails).describe(
    'Mails per hour from one network (IPv4 /24, IPv6 /48), beyond them 451',
  ),
  INBOUND_NETWORK_BYTES: rate(LIMITS.inbound.networkBytes).describe('Bytes per hour from one network'),
  INBOUND_EXEMPT_NETWORKS: env
    .networks()
    .describe('Networks (CIDR) of large providers, to which these two rates do not apply'),
  INBOUND_INBOX_MAILS: rate(LIMITS.inbound.inboxMails).describe(
    'Mails per hour for one inbox, of which one network gets a quarter',
  ),
  INBOUND_ORGANIZATION_MAILS: rate(LIMITS.inbound.organizationMails).describe('The same for one organization'),
  ORGANIZATION_STORAGE_MB: env
    .integer(undefined, 1_000_000_000, 1)
    .optional()
    .describe('Mail that one organization may keep, beyond it 452; default: no limit'),
  RATE_LIMIT_SPARES_LOOPBACK: env.flag(false).describe('Peers on the same machine are exempt from every rate limit'),

  SENDER_AUTH: env
    .choice(['dns', 'trust-loopback'], 'dns')
    .describe('trust-loopback: mail from loopback counts as authenticated'),
  DNS_SERVERS: dnsServers.describe('DNS servers for sender authentication; default: those of the system'),
  ARC_TRUSTED_SEALERS: env
    .list('google.com,microsoft.com,outlook.com,icloud.com')
    .describe('Forwarders whose ARC seal outweighs a DMARC failure'),
  RSPAMD_URL: env.url().optional().describe('rspamd worker; a small built-in rule set judges without it'),
  PIPELINE_CONCURRENCY: env.integer(8, 64).describe('Inboxes whose mail is processed at once'),
  PARSE_WORKERS: env.integer(2, 64).describe('Threads that parse mail'),
  PARSE_MEMORY_MB: env.integer(256, 4_096).describe('Heap of one of them; a mail that needs more is stored unparsed'),
  PARSE_FIRST_ATTEMPT: env
    .duration('500ms')
    .describe('What the first attempt at a mail may take, and 25 ms for each megabyte; then it goes to the slow lane'),
  PARSE_TIMEOUT: env
    .duration('5s')
    .describe('What one mail may take in the slow lane; one that takes longer three times is stored unparsed'),
})

/** First step of configuration: every variable of the service, typed. */
export const environment = variables.superRefine(({ SMTP_TLS_CERT: cert, SMTP_TLS_KEY: key }, context) => {
  if ((cert === undefined) === (key === undefined)) return
  const message = 'must be given together with SMTP_TLS_CERT, or not at all'
  context.addIssue({ code: 'custom', path: ['SMTP_TLS_KEY'], message })
})
export type Environment = z.output<typeof environment>

/** Second step: nested and named as the code uses it. Pure. */
export function configure(given: Environment) {
  return {
    ...commonConfiguration(given),
    roles: new Set<Role>(given.ROLES),
    blobStore: given.BLOB_STORE,
    bounceDomain: (given.BOUNCE_DOMAIN ?? `bounces.${given.DEFAULT_DOMAIN}`).toLowerCase(),
    publicUrl: given.PUBLIC_URL.replace(/\/+$/, ''),
    docsUrl: given.DOCS_URL ?? `${given.PUBLIC_URL.replace(/\/+$/, '')}/docs`,
    secrets: { cursor: given.CURSOR_SECRET, link: given.LINK_SECRET, returnPath: given.RETURN_PATH_SECRET },
    callerKey: given.CALLER_KEY,
    gateway: { url: given.GATEWAY_URL, key: given.PEER_KEY_GATEWAY },
    mailSend: { url: given.MAIL_SEND_URL, key: given.PEER_KEY_MAIL_SEND },
    /** Our name towards other mail servers: greeting, Received, Authentication-Results. */
    hostname: (given.SMTP_NAME ?? `mx.${given.DEFAULT_DOMAIN}`).toLowerCase(),
    smtp: {
      port: given.SMTP_PORT,
      host: given.SMTP_HOST,
      certificate:
        given.SMTP_TLS_CERT !== undefined && given.SMTP_TLS_KEY !== undefined
          ? { cert: given.SMTP_TLS_CERT, key: given.SMTP_TLS_KEY }
          : undefined,
      maxConnections: given.SMTP_MAX_CONNECTIONS,
      peerConnections: given.SMTP_PEER_CONNECTIONS,
      maxRecipients: given.SMTP_MAX_RECIPIENTS,
      idleTimeoutMs: given.SMTP_IDLE_TIMEOUT,
      crowdedTimeoutMs: given.SMTP_CROWDED_TIMEOUT,
      minRate: given.SMTP_MIN_RATE,
    },
    rates: {
      redis: {
        url: given.REDIS_CACHE_URL ?? given.REDIS_URL,
        prefix: `${given.REDIS_PREFIX}:mail-ingest:inbound`,
      },
      limits: {
        networkMails: given.INBOUND_NETWORK_MAILS,
        networkBytes: given.INBOUND_NETWORK_BYTES,
        inboxMails: given.INBOUND_INBOX_MAILS,
        organizationMails: given.INBOUND_ORGANIZATION_MAILS,
      },
      exemptNetworks: given.INBOUND_EXEMPT_NETWORKS,
      exemptLoopback: given.RATE_LIMIT_SPARES_LOOPBACK,
    },
    storageLimit: given.ORGANIZATION_STORAGE_MB && given.ORGANIZATION_STORAGE_MB * 1024 * 1024,
    pipeline: {
      concurrency: given.PIPELINE_CONCURRENCY,
      parser: {
        threads: given.PARSE_WORKERS,
        memoryMb: given.PARSE_MEMORY_MB,
        firstMs: given.PARSE_FIRST_ATTEMPT,
        timeoutMs: given.PARSE_TIMEOUT,
      },
      trustLoopback: given.SENDER_AUTH === 'trust-loopback',
      dnsServers: given.DNS_SERVERS,
      arcTrustedSealers: new Set(given.ARC_TRUSTED_SEALERS.map((domain) => domain.toLowerCase())),
      rspamdUrl: given.RSPAMD_URL,
    },
  }
}
export type Config = ReturnType<typeof configure>
