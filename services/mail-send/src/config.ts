import { isIP } from 'node:net'
import { parseBlobStore } from '@restante/blobs'
import { LIMITS } from '@restante/contracts'
import {
  callerEnvironment,
  commonConfiguration,
  commonEnvironment,
  env,
  systemSender,
  systemSenderEnvironment,
} from '@restante/service'
import { z } from 'zod'

const blobStore = env.string().transform((text, context) => {
  try {
    return parseBlobStore(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    return z.NEVER
  }
})

const dnsServers = env
  .list()
  .pipe(z.array(z.string().refine(isDnsServer, 'must hold addresses such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53')))

function isDnsServer(text: string): boolean {
  const host = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([^:]+):\d+$/, '$1')
  return isIP(host) !== 0
}

const smarthost = env.string().transform((text, context) => {
  const [, host, port] = /^\[?([^\s\]]+?)\]?(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host !== undefined && Number(port ?? 25) <= 65_535) return { host, port: Number(port ?? 25) }
  context.addIssue({ code: 'custom', message: 'must be host:port' })
  return z.NEVER
})

/** First step of configuration: every variable of the service, typed. */
const variables = commonEnvironment.extend({
  ...callerEnvironment.shape,
  ...systemSenderEnvironment.shape,
  PORT: env.port(3002).describe('HTTP port of this service'),
  BLOB_STORE: blobStore.describe('directory:/path or s3://bucket/prefix; shared with mail-ingest'),
  REDIS_URL: env.url().describe('Redis of the work queues (noeviction)'),
  REDIS_PREFIX: env.string('restante').describe('In front of every key in Redis'),
  DEFAULT_DOMAIN: env.string().describe('Domain that every organization may have inboxes on'),
  BOUNCE_DOMAIN: env.string().optional().describe('Domain of our return paths; default bounces.<DEFAULT_DOMAIN>'),
  PUBLIC_URL: env.url().describe('Where the gateway is reached from outside'),
  DOCS_URL: env.url().optional().describe('Base of the docs links in errors; default <PUBLIC_URL>/docs'),
  ENCRYPTION_KEY: env.secret().describe('Seals verification mails in the blob store until they are handed over'),
  RETURN_PATH_SECRET: env.secret().describe('Signs return paths; the same as in mail-ingest'),
  GATEWAY_URL: env.url().describe('Base URL of the gateway inside'),
  PEER_KEY_GATEWAY: env.secret().describe('Key shared with the gateway'),
  MAIL_INGEST_URL: env.url().describe('Base URL of mail-ingest'),
  PEER_KEY_MAIL_INGEST: env.secret().describe('Key shared with mail-ingest'),

  DKIM_SELECTOR: env.string().optional().describe('Selector of the key that signs for DEFAULT_DOMAIN'),
  DKIM_KEY_FILE: env.string().optional().describe('PEM file of that key; mail is not signed without both'),

  ALLOW_HTTP_URLS: env.flag().describe('Fetch attachments from http URLs. For development only'),
  ALLOW_LOOPBACK_URLS: env.flag().describe('Fetch attachments from loopback. For development only'),
  ATTACHMENT_TIMEOUT: env
    .duration(`${LIMITS.send.fetchTimeout}ms`)
    .describe('For one attachment URL, redirects included'),

  SMARTHOST: smarthost
    .optional()
    .describe('host:port that takes all mail for the outside; mail goes to the MX without it'),
  SMARTHOST_TLS: env
    .choice(['auto', 'opportunistic', 'required', 'implicit', 'none'], 'auto')
    .describe('auto: required with a login, opportunistic without; required and implicit verify the certificate'),
  SMARTHOST_USER: env.string().optional().describe('SMTP AUTH user at the smarthost'),
  SMARTHOST_PASSWORD: env.string().optional().describe('Password at the smarthost'),
  MX_PORT: env.port(25).describe('Port of mail exchanges'),
  MX_ALLOW_LOCAL: env
    .flag()
    .describe('Deliver to exchanges on loopback and private addresses. Not on a public installation'),
  DNS_SERVERS: dnsServers.describe('DNS servers for MX lookups and attachment URLs; default: those of the system'),
  EHLO_NAME: env.string().optional().describe('Our name towards other mail servers; default mail.<DEFAULT_DOMAIN>'),
  DELIVERY_CONCURRENCY: env.integer(20, 1_000).describe('Messages delivered to the outside at once, by this process'),
  DELIVERY_PER_DESTINATION: env.integer(5, 1_000).describe('Of these, to one domain; a smarthost gets them all'),
  DELIVERY_CONNECT_TIMEOUT: env.duration('20s').describe('To establish one connection'),
  DELIVERY_ANSWER_TIMEOUT: env.duration('2m').describe('Silence of a server that is waited out'),
  RETRY_FIRST: env.duration('1m').describe('Wait before the first retry; each further one is twice as long'),
  RETRY_MOST: env.duration('4h').describe('Longest wait between retries'),
  RETRY_FOR: env.duration(`${LIMITS.delivery.retriedFor / 3_600_000}h`).describe('After this the message bounces'),
})

/** The same, with the variables that belong together. */
export const environment = variables
  .refine((given) => (given.DKIM_SELECTOR === undefined) === (given.DKIM_KEY_FILE === undefined), {
    path: ['DKIM_KEY_FILE'],
    error: 'must be given together with DKIM_SELECTOR',
  })
  .refine((given) => (given.SMARTHOST_USER === undefined) === (given.SMARTHOST_PASSWORD === undefined), {
    path: ['SMARTHOST_PASSWORD'],
    error: 'must be given together with SMARTHOST_USER',
  })
export type Environment = z.output<typeof environment>

/** A password never travels in the clear unless an operator says so in so many words. */
function smarthostTls(given: Environment): 'opportunistic' | 'required' | 'implicit' | 'none' {
  if (given.SMARTHOST_TLS !== 'auto') return given.SMARTHOST_TLS
  return given.SMARTHOST_USER === undefined ? 'opportunistic' : 'required'
}

/** Second step: nested and named as the code uses it. Pure. */
export function configure(given: Environment) {
  const publicUrl = given.PUBLIC_URL.replace(/\/+$/, '')
  const defaultDomain = given.DEFAULT_DOMAIN.toLowerCase()
  const timeouts = { connectMs: given.DELIVERY_CONNECT_TIMEOUT, answerMs: given.DELIVERY_ANSWER_TIMEOUT }
  return {
    ...commonConfiguration(given),
    docsUrl: given.DOCS_URL ?? `${publicUrl}/docs`,
    callerKey: given.CALLER_KEY,
    peerKeys: { gateway: given.PEER_KEY_GATEWAY, 'mail-ingest': given.PEER_KEY_MAIL_INGEST },
    gatewayUrl: given.GATEWAY_URL,
    mailIngestUrl: given.MAIL_INGEST_URL,
    blobStore: given.BLOB_STORE,
    redis: { url: given.REDIS_URL, prefix: `${given.REDIS_PREFIX}:mail-send` },
    defaultDomain,
    systemSender: systemSender(given, defaultDomain),
    encryptionKey: given.ENCRYPTION_KEY,
    returnPath: {
      domain: given.BOUNCE_DOMAIN ?? `bounces.${defaultDomain}`,
      secret: given.RETURN_PATH_SECRET,
    },
    dkim:
      given.DKIM_SELECTOR !== undefined && given.DKIM_KEY_FILE !== undefined
        ? { selector: given.DKIM_SELECTOR, keyFile: given.DKIM_KEY_FILE }
        : undefined,
    attachments: {
      timeoutMs: given.ATTACHMENT_TIMEOUT,
      allow: { http: given.ALLOW_HTTP_URLS, loopback: given.ALLOW_LOOPBACK_URLS },
      dnsServers: given.DNS_SERVERS,
    },
    delivery: {
      ehloName: given.EHLO_NAME ?? `mail.${defaultDomain}`,
      concurrency: given.DELIVERY_CONCURRENCY,
      perDestination: given.DELIVERY_PER_DESTINATION,
      timeouts,
      smarthost: given.SMARTHOST && {
        ...given.SMARTHOST,
        tls: smarthostTls(given),
        credentials:
          given.SMARTHOST_USER !== undefined && given.SMARTHOST_PASSWORD !== undefined
            ? { user: given.SMARTHOST_USER, pass: given.SMARTHOST_PASSWORD }
            : undefined,
      },
      exchanges: {
        port: given.MX_PORT,
        allowLocal: given.MX_ALLOW_LOCAL,
        dnsServers: given.DNS_SERVERS,
        connectMs: given.DELIVERY_CONNECT_TIMEOUT,
      },
      retry: { firstMs: given.RETRY_FIRST, mostMs: given.RETRY_MOST, giveUpAfterMs: given.RETRY_FOR },
    },
  }
}
export type Config = ReturnType<typeof configure>
