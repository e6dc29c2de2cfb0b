import { isIP } from 'node:net'
import { type BlobStoreConfig, parseBlobStore } from '@restante/blobs'
import { displayName } from '@restante/contracts/operations'
import { type ServiceName, USERNAME } from '@restante/contracts/vocabulary'
import { env } from '@restante/service/configuration'
import type { EngineTrust } from '@restante/service/engines'
import { messageOf } from '@restante/service/errors'
import { z } from 'zod'

/** The key of the caller tokens, for every service behind the gateway. */
export const callerVariables = {
  variables: z.object({
    CALLER_KEY: env.secret().describe('Key with which the gateway signs caller tokens for this service'),
  }),
  configure: (given: { CALLER_KEY: string }) => ({ callerKey: given.CALLER_KEY }),
}

const redisUrl = env
  .confidentialUrl()
  .describe(
    'Redis of work queues and leases; it must keep what it holds (noeviction); over TLS rediss://user:password@host',
  )
const redisPrefix = env.string('restante').describe('Prefix of every key in Redis; the name of the service follows it')

/** What blocks about engines need of the common ones. */
interface Common {
  readonly service: ServiceName
  readonly engineTrust: EngineTrust | undefined
}

/** The Redis of work queues and leases. Every key of the service begins with the prefix and the service's name. */
export const redisVariables = {
  variables: z.object({ REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix }),
  configure: (given: { REDIS_URL: string; REDIS_PREFIX: string }, { service, engineTrust: trust }: Common) => ({
    redis: { url: given.REDIS_URL, prefix: `${given.REDIS_PREFIX}:${service}`, trust },
  }),
}

/** The Redis of counters. Its loss costs only accuracy: without one, each process counts on its own. */
export const redisCacheVariables = {
  variables: z.object({
    REDIS_URL: redisUrl.optional(),
    REDIS_CACHE_URL: env
      .confidentialUrl()
      .optional()
      .describe('Redis of the counters of rate limits; default: REDIS_URL'),
    REDIS_PREFIX: redisPrefix,
  }),
  configure: (
    given: { REDIS_URL?: string | undefined; REDIS_CACHE_URL?: string | undefined; REDIS_PREFIX: string },
    { service, engineTrust: trust }: Common,
  ) => ({
    redisCache: { url: given.REDIS_CACHE_URL ?? given.REDIS_URL, prefix: `${given.REDIS_PREFIX}:${service}`, trust },
  }),
}

/** Whether clients on the same machine are exempt from rate limits. */
export const loopbackExemption = {
  variables: z.object({
    RATE_LIMIT_EXEMPT_LOOPBACK: env.flag(false).describe('Exempt clients on the same machine from every rate limit'),
  }),
  configure: (given: { RATE_LIMIT_EXEMPT_LOOPBACK: boolean }) => ({ exemptLoopback: given.RATE_LIMIT_EXEMPT_LOOPBACK }),
}

const blobStore = env.string().transform((text, context) => {
  try {
    return parseBlobStore(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) })
    return z.NEVER
  }
})

/** The object storage that mail-ingest and mail-send share. */
export const blobVariables = {
  variables: z.object({
    BLOB_STORE: blobStore.describe('directory:/path or s3://bucket/prefix; the same for mail-ingest and mail-send'),
  }),
  configure: ({ BLOB_STORE: store }: { BLOB_STORE: BlobStoreConfig }, { engineTrust: trust }: Common) => ({
    blobStore: store.kind === 's3' ? { ...store, trust } : store,
  }),
}

/** The key of page tokens. */
export const cursorVariables = {
  variables: z.object({
    CURSOR_SECRET: env.secret().describe('Key that seals page tokens; the same for all replicas of a service'),
  }),
  configure: (given: { CURSOR_SECRET: string }) => ({ cursorSecret: given.CURSOR_SECRET }),
}

/** The key for data that a service stores encrypted. */
export const encryptionVariables = {
  variables: z.object({
    ENCRYPTION_KEY: env.secret().describe('Key that encrypts secrets and verification mails where they are stored'),
  }),
  configure: (given: { ENCRYPTION_KEY: string }) => ({ encryptionKey: given.ENCRYPTION_KEY }),
}

const dnsServers = env
  .list()
  .pipe(z.array(z.string().refine(isDnsServer, 'must hold addresses such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53')))

/** The DNS resolvers that a service uses instead of those of the system. */
export const dnsVariables = {
  variables: z.object({
    DNS_SERVERS: dnsServers.describe('DNS servers to ask; default: those of the system'),
  }),
  configure: (given: { DNS_SERVERS: string[] }) => ({ dnsServers: given.DNS_SERVERS }),
}

function isDnsServer(text: string): boolean {
  const host = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([^:]+):\d+$/, '$1')
  return isIP(host) !== 0
}

/** What requests to URLs of users may reach in addition to https on public addresses. */
export const outboundVariables = {
  variables: z.object({
    ALLOW_HTTP_URLS: env
      .flag()
      .describe('Allow requests to http URLs of users (webhooks, attachments); for local runs'),
    ALLOW_LOOPBACK_URLS: env
      .flag()
      .describe('Allow requests to URLs of users to reach loopback addresses; for local runs'),
  }),
  configure: (given: { ALLOW_HTTP_URLS: boolean; ALLOW_LOOPBACK_URLS: boolean }) => ({
    outbound: { allow: { http: given.ALLOW_HTTP_URLS, loopback: given.ALLOW_LOOPBACK_URLS } },
  }),
}

/** The domains of the installation: that of inboxes that are created without one, and others. */
export const sharedDomainVariables = {
  variables: z.object({
    DEFAULT_DOMAIN: env.string().describe('Default domain of new inboxes; every organization may use it'),
    SHARED_DOMAINS: env
      .list()
      .describe(
        'Further domains that every organization may use, IDN in A-labels; the same for gateway, mail-ingest and mail-send',
      ),
  }),
  configure: (given: SharedDomainsGiven) => ({
    /** In lower case. */
    defaultDomain: given.DEFAULT_DOMAIN.toLowerCase(),
    /** In lower case, with the default one. */
    sharedDomains: sharedDomainsOf(given),
  }),
}

export interface SharedDomainsGiven {
  readonly DEFAULT_DOMAIN: string
  readonly SHARED_DOMAINS: readonly string[]
}

/** The domains that every organization may use, by the variables. Pure. */
export function sharedDomainsOf({ DEFAULT_DOMAIN, SHARED_DOMAINS }: SharedDomainsGiven): ReadonlySet<string> {
  return new Set([DEFAULT_DOMAIN, ...SHARED_DOMAINS].map((domain) => domain.toLowerCase()))
}

/** The sender of the installation's own mail. mail-send sends with it; the gateway reserves its address and name. */
export const systemSenderVariables = {
  variables: z.object({
    SYSTEM_SENDER: env
      .string('no-reply')
      .refine((name) => USERNAME.test(name), 'must be a local part: 1 to 64 of a-z 0-9 . _ -')
      .describe(
        'Local part, at DEFAULT_DOMAIN, of the address that sends mail of the installation; no inbox can have it',
      ),
    SYSTEM_SENDER_NAME: env
      .string('Restante')
      .refine((name) => displayName.safeParse(name).success, 'must be one line of at most 256 characters')
      .describe('Display name of SYSTEM_SENDER; inboxes on shared domains cannot use it'),
  }),
  configure: (
    given: { SYSTEM_SENDER: string; SYSTEM_SENDER_NAME: string },
    { defaultDomain }: { readonly defaultDomain: string },
  ) => ({
    systemSender: {
      localPart: given.SYSTEM_SENDER,
      name: given.SYSTEM_SENDER_NAME,
      address: `${given.SYSTEM_SENDER}@${defaultDomain}`,
    },
  }),
}

/** The return paths of sent mail: mail-send writes them, mail-ingest recognizes them. */
export const returnPathVariables = {
  variables: z.object({
    BOUNCE_DOMAIN: env.string().optional().describe('Domain of the return paths; default: bounces.<DEFAULT_DOMAIN>'),
    RETURN_PATH_SECRET: env
      .secret({ shared: true })
      .describe('Key that signs return paths; the same in mail-ingest and mail-send'),
  }),
  configure: (
    given: { BOUNCE_DOMAIN?: string | undefined; RETURN_PATH_SECRET: string },
    { defaultDomain }: { readonly defaultDomain: string },
  ) => ({
    returnPath: {
      domain: (given.BOUNCE_DOMAIN ?? `bounces.${defaultDomain}`).toLowerCase(),
      secret: given.RETURN_PATH_SECRET,
    },
  }),
}
