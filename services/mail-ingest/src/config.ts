import { LIMITS } from '@restante/contracts/vocabulary'
import {
  blobVariables,
  type ConfigOf,
  callerVariables,
  clamdVariables,
  configurationOf,
  cursorVariables,
  dnsVariables,
  type KitOf,
  loopbackExemption,
  operatorOf,
  operatorVariables,
  redisCacheVariables,
  returnPathVariables,
  sharedDomainVariables,
  together,
} from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'
import { type ComplaintAddresses, complaintAddressesFrom } from './inbound/complaint-addresses.ts'

const ROLES = ['smtp', 'pipeline', 'api'] as const
/** Roles of the service, each of which can run as a process of its own. */
export type Role = (typeof ROLES)[number]

const roles = env.list(ROLES.join(',')).pipe(z.array(z.enum(ROLES, { error: `must name ${ROLES.join(', ')}` })).min(1))

const rate = (fallback: number) => env.integer(fallback, Number.MAX_SAFE_INTEGER, 1)

const complaintAddresses = env.list().transform((words, context) => {
  const addresses = complaintAddressesFrom(words)
  if (addresses !== undefined) return addresses
  context.addIssue({ code: 'custom', message: 'must hold addresses with domains: address=domain/domain' })
  return z.NEVER
})

const variables = z.object({
  ROLES: roles.describe('Roles of this process: smtp, pipeline, api'),
  LINK_SECRET: env.secret().describe('Key that signs download links'),

  SMTP_PORT: env.port(2525).describe('Port of the SMTP server'),
  SMTP_HOST: env.string('0.0.0.0').describe('Address the SMTP server listens on'),
  SMTP_NAME: env.string().optional().describe('Name in greeting and trace headers; default mx.<DEFAULT_DOMAIN>'),
  SMTP_TLS_CERT: env.string().optional().describe('PEM file of the certificate chain; self-signed when absent'),
  SMTP_TLS_KEY: env.string().optional().describe('PEM file of the private key of that certificate'),
  SMTP_MAX_CONNECTIONS: env.integer(500, 100_000).describe('Maximum number of open SMTP connections of this process'),
  SMTP_PEER_CONNECTIONS: env
    .integer(20, 100_000)
    .describe('Maximum number of open connections per client (IPv4 address, IPv6 /64)'),
  SMTP_PROXY_NETWORKS: env
    .networks()
    .describe(
      'Addresses and networks (CIDR) of load balancers; their connections, and no others, must begin with a header of the PROXY protocol, version 1 or 2, which names the client',
    ),
  SMTP_MAX_RECIPIENTS: env
    .integer(100, 10_000)
    .describe('Maximum number of recipients per transaction; further ones get 452'),
  SMTP_IDLE_TIMEOUT: env
    .duration('5m')
    .describe("Time limit for a client's next command or TLS handshake (RFC 5321 4.5.3.2.7)"),
  SMTP_TIMEOUT_UNDER_LOAD: env
    .duration('10s')
    .describe('Replaces SMTP_IDLE_TIMEOUT while over 80% of SMTP_MAX_CONNECTIONS are open'),
  SMTP_MIN_RATE: env
    .integer(500, 1_000_000)
    .describe('Minimum average rate of a mail in bytes per second, enforced after SMTP_IDLE_TIMEOUT'),

  INBOUND_NETWORK_MAILS: rate(LIMITS.inbound.networkMails).describe(
    'Maximum number of mails per hour from one network (IPv4 /24, IPv6 /48); further ones get 451',
  ),
  INBOUND_NETWORK_BYTES: rate(LIMITS.inbound.networkBytes).describe(
    'Maximum number of bytes per hour from one network (IPv4 /24, IPv6 /48)',
  ),
  INBOUND_EXEMPT_NETWORKS: env
    .networks()
    .describe('Networks (CIDR) of large providers, exempt from INBOUND_NETWORK_MAILS and INBOUND_NETWORK_BYTES'),
  INBOUND_INBOX_MAILS: rate(LIMITS.inbound.inboxMails).describe(
    'Maximum number of mails per hour for one inbox; one network may use a quarter of it',
  ),
  INBOUND_ORGANIZATION_MAILS: rate(LIMITS.inbound.organizationMails).describe(
    'Maximum number of mails per hour for one organization; one network may use a quarter of it',
  ),
  INBOUND_OPERATOR_MAILS: rate(LIMITS.inbound.operatorMails).describe(
    'Maximum number of mails per hour to postmaster@ and abuse@; one network may use a twentieth of it',
  ),
  ORGANIZATION_STORAGE_MB: env
    .integer(undefined, 1_000_000_000, 1)
    .optional()
    .describe('Maximum storage of one organization in MB; further mails get 452; default: no limit'),

  COMPLAINT_ADDRESSES: complaintAddresses.describe(
    'Addresses that are registered with feedback loops of providers, each with the domains whose reports are believed there: fbl@mail.example=feedback.provider.example/arf.other.example; they take precedence over inboxes',
  ),

  FEEDBACK_COPIES: env
    .flag(true)
    .describe(
      'Store bounce and complaint reports, and notices about refused mail, in the inbox on a shared domain that sent the mail; custom domains have a switch of their own',
    ),

  SENDER_AUTH: env
    .choice(['dns', 'trust-loopback'], 'dns')
    .describe('trust-loopback: mail from loopback counts as authenticated'),
  ARC_TRUSTED_SEALERS: env
    .list('google.com,microsoft.com,outlook.com,icloud.com')
    .describe('Forwarders whose ARC seal outweighs a DMARC failure'),
  RSPAMD_URL: env.url().optional().describe('URL of an rspamd worker; without it a small built-in rule set is used'),
  PIPELINE_CONCURRENCY: env.integer(8, 64).describe('Inboxes whose mail is processed concurrently'),
  PARSE_WORKERS: env.integer(2, 64).describe('Threads that parse mail'),
  PARSE_MEMORY_MB: env
    .integer(256, 4_096)
    .describe('Heap of one parser thread; a mail that needs more is stored unparsed'),
  PARSE_FIRST_ATTEMPT: env
    .duration('500ms')
    .describe(
      'Processor time of the first attempt to parse a mail, plus 25 ms for each megabyte; then it is moved to the slow lane',
    ),
  PARSE_TIMEOUT: env
    .duration('5s')
    .describe('Processor time of one mail in the slow lane; a mail that exceeds it three times is stored unparsed'),
  DOCUMENT_WORKERS: env
    .integer(1, 64)
    .describe('Threads that read the text of attached documents, after their mail is stored; 0 reads none'),
  DOCUMENT_MEMORY_MB: env
    .integer(LIMITS.document.memoryMb, 4_096)
    .describe('Heap of one such thread; a document that needs more has no text_url. It may use 192 MB beside its heap'),
  DOCUMENT_TIMEOUT: env
    .duration('10s')
    .describe('Processor time of one document; one that exceeds it twice has no text_url'),
})
type Given = z.output<typeof variables>

function smtpOf(given: Given) {
  return {
    port: given.SMTP_PORT,
    host: given.SMTP_HOST,
    certificate:
      given.SMTP_TLS_CERT !== undefined && given.SMTP_TLS_KEY !== undefined
        ? { cert: given.SMTP_TLS_CERT, key: given.SMTP_TLS_KEY }
        : undefined,
    maxConnections: given.SMTP_MAX_CONNECTIONS,
    peerConnections: given.SMTP_PEER_CONNECTIONS,
    proxyNetworks: given.SMTP_PROXY_NETWORKS,
    maxRecipients: given.SMTP_MAX_RECIPIENTS,
    idleTimeoutMs: given.SMTP_IDLE_TIMEOUT,
    timeoutUnderLoadMs: given.SMTP_TIMEOUT_UNDER_LOAD,
    minRate: given.SMTP_MIN_RATE,
  }
}

function pipelineOf(given: Given) {
  return {
    concurrency: given.PIPELINE_CONCURRENCY,
    parser: {
      threads: given.PARSE_WORKERS,
      memoryMb: given.PARSE_MEMORY_MB,
      firstMs: given.PARSE_FIRST_ATTEMPT,
      timeoutMs: given.PARSE_TIMEOUT,
    },
    trustLoopback: given.SENDER_AUTH === 'trust-loopback',
    arcTrustedSealers: new Set(given.ARC_TRUSTED_SEALERS.map((domain) => domain.toLowerCase())),
    rspamdUrl: given.RSPAMD_URL,
  }
}

function documentsOf(given: Given) {
  return {
    threads: given.DOCUMENT_WORKERS,
    memoryMb: given.DOCUMENT_MEMORY_MB,
    timeoutMs: given.DOCUMENT_TIMEOUT,
  }
}

/** What is no report is dropped at these addresses, and people write to the operator's. */
function complaintAddressProblems(addresses: ComplaintAddresses, operatorNames: ReadonlySet<string>): string[] {
  const both = [...addresses.keys()].filter((address) => operatorNames.has(address))
  return both.map((address) => `COMPLAINT_ADDRESSES must not name ${address}: mail to it goes to the operator`)
}

/** Limits for received mail, by its source and by its recipients. */
function limitsOf(given: Given) {
  return {
    rates: {
      networkMails: given.INBOUND_NETWORK_MAILS,
      networkBytes: given.INBOUND_NETWORK_BYTES,
      inboxMails: given.INBOUND_INBOX_MAILS,
      organizationMails: given.INBOUND_ORGANIZATION_MAILS,
      operatorMails: given.INBOUND_OPERATOR_MAILS,
    },
    exemptNetworks: given.INBOUND_EXEMPT_NETWORKS,
    storage: given.ORGANIZATION_STORAGE_MB && given.ORGANIZATION_STORAGE_MB * 1024 * 1024,
  }
}

export const configuration = configurationOf('mail-ingest', {
  peers: ['gateway', 'mail-send', 'domains-dns', 'webhooks-dispatcher', 'calendar', 'metrics'],
})
  .with(callerVariables)
  .with(redisCacheVariables)
  .with(blobVariables)
  .with(cursorVariables)
  .with(sharedDomainVariables)
  .with(returnPathVariables)
  .with(operatorVariables)
  .with(dnsVariables)
  .with(clamdVariables)
  .with(loopbackExemption)
  .with({
    variables,
    check: (given) => [
      ...together(given, 'SMTP_TLS_CERT', 'SMTP_TLS_KEY'),
      ...complaintAddressProblems(given.COMPLAINT_ADDRESSES, operatorOf(given).names),
    ],
    configure: (given, { defaultDomain }) => ({
      roles: new Set<Role>(given.ROLES),
      linkSecret: given.LINK_SECRET,
      /** The name by which this server identifies itself: in the greeting, Received and Authentication-Results. */
      hostname: (given.SMTP_NAME ?? `mx.${defaultDomain}`).toLowerCase(),
      smtp: smtpOf(given),
      limits: limitsOf(given),
      feedbackCopies: given.FEEDBACK_COPIES,
      complaintAddresses: given.COMPLAINT_ADDRESSES,
      pipeline: pipelineOf(given),
      documents: documentsOf(given),
    }),
  })
export type Config = ConfigOf<typeof configuration>
export type IngestKit = KitOf<typeof configuration>
