import path from 'node:path'
import { displayName, LIMITS } from '@restante/contracts'
import {
  ConfigurationError,
  commonConfiguration,
  commonEnvironment,
  env,
  systemSender,
  systemSenderEnvironment,
} from '@restante/service'
import type { z } from 'zod'
import { looksLike } from './inboxes/look-alikes.ts'
import { reservedUsernames } from './inboxes/usernames.ts'

/** Every variable of the gateway, typed. */
export const variables = commonEnvironment.extend({
  ...systemSenderEnvironment.shape,
  PORT: env.port(3000).describe('HTTP port that faces the world: REST, WebSocket upgrade at /v0, documents'),
  INTERNAL_PORT: env
    .port()
    .optional()
    .describe('Port of the calls of other services; required unless INTERNAL_ON_PUBLIC_PORT. Keep it from the world'),
  INTERNAL_HOST: env.string().optional().describe('Address that INTERNAL_PORT listens on; default: HOST'),
  INTERNAL_ON_PUBLIC_PORT: env
    .flag(false)
    .describe('Serve the calls of other services on PORT, where only their tokens protect them; for local runs'),
  REDIS_URL: env.url().describe('Redis of the queues'),
  REDIS_CACHE_URL: env.url().optional().describe('Redis that counts requests for the rate limits; default: REDIS_URL'),
  REDIS_PREFIX: env.string('restante').describe('In front of every key in Redis'),
  PUBLIC_URL: env
    .url()
    .describe('Where the API is reached from outside: what the target of a signed request begins with'),
  OTHER_PUBLIC_URLS: env
    .list()
    .refine((urls) => urls.every((url) => URL.canParse(url)), { error: 'must be URLs' })
    .describe('Further addresses of the API, which signed requests may name as well'),
  DOCS_URL: env.url().describe('Base of the links in errors'),
  OPENAPI_FILE: env.string().optional().describe('OpenAPI document to serve; default: the one of this repository'),

  TRUSTED_PROXIES: env
    .networks()
    .describe(
      'Addresses and networks (CIDR) of the proxies in front. From them alone X-Forwarded-For is believed; without it all who come through one proxy are one peer. HTTP_PEER_CONNECTIONS does not count them',
    ),
  HTTP_PEER_CONNECTIONS: env
    .integer(2_000)
    .describe(
      'Connections at once of one peer; those of TRUSTED_PROXIES are not counted, so name every proxy there: to any other its clients are one peer',
    ),
  RATE_LIMIT_ORGANIZATION: env.rate('100/s').describe('Requests of one organization, beyond them 429'),
  RATE_LIMIT_ORGANIZATION_BURST: env.integer(200, 1_000_000, 1).describe('How many of them may come at once'),
  RATE_LIMIT_CREDENTIAL: env.rate('50/s').describe('Requests with one API key'),
  RATE_LIMIT_CREDENTIAL_BURST: env.integer(100, 1_000_000, 1).describe('How many of them may come at once'),
  RATE_LIMIT_SIGN_UP: env.rate('60/h').describe('Sign-ups of one peer: an IPv4 address, or the /64 of an IPv6 one'),
  RATE_LIMIT_FAILED_AUTHENTICATION: env
    .rate('300/m')
    .describe('Requests without a valid API key of one peer; those with one go on'),
  RATE_LIMIT_DOWNLOAD: env.rate('60/h').describe('Downloads with one link, which needs no API key'),
  RATE_LIMIT_SPARES_LOOPBACK: env.flag(false).describe('Peers on the same machine are exempt from every rate limit'),

  INSTALLATION_SECRET: env
    .secret()
    .describe('Key of the hashes of API keys and of verification codes; never change it'),
  CURSOR_SECRET: env.secret().describe('Key of page tokens'),
  REGION: env.choice(['us', 'eu'], 'us').describe('Region in the prefix of new API keys'),
  OTHER_REGION_URL: env.url().optional().describe('API of the other region, named to callers with a key of it'),

  DEFAULT_DOMAIN: env.string().describe('Domain of inboxes that are created without one'),
  SHARED_DOMAINS: env.list().describe('Further domains that every organization may use'),
  RESERVED_USERNAMES: env
    .list()
    .describe(
      'Further local parts of shared domains that nobody can take. Dots, dashes and underscores make no difference',
    ),
  FREE_USERNAMES: env
    .list()
    .describe(
      'Local parts of shared domains that are reserved by default and free here; never the one of SYSTEM_SENDER',
    ),
  DEFAULT_DISPLAY_NAME: env
    .string()
    .refine((name) => displayName.safeParse(name).success, 'must be one line of at most 256 characters')
    .optional()
    .describe('Sender name of inboxes that are created without one; default: none'),
  RETIRED_ADDRESS_PERIOD: env.duration('30d').describe('How long a deleted address is kept from other organizations'),
  POD_LIMIT: env.integer().optional().describe('Pods per organization; default: no limit'),
  CREDENTIAL_LIMIT: env
    .integer(LIMITS.apiKey.perOrganization)
    .describe('Live API keys per organization; as many expired ones are kept'),

  AUDIT_PERIOD: env.duration('400d').describe('How long the audit log of keys and organizations is kept'),

  SIGN_UP: env.flag(true).describe('Agents may sign up by themselves'),
  SIGN_UP_REFUSED_DOMAINS: env
    .list('example.com,example.net,example.org')
    .describe('Domains of human addresses that are refused, with all domains below them'),
  SIGN_UP_VERIFIED_HUMAN: env
    .choice(['provisional', 'refuse'], 'provisional')
    .describe('What a repeated sign-up of a verified human gets: a key to be confirmed with a code, or 403'),
  UNVERIFIED_ORGANIZATION_PERIOD: env
    .duration()
    .optional()
    .describe(
      'After how long without a used key or arriving mail an organization that was never verified is deleted; default: never',
    ),
  VERIFIED_INBOX_LIMIT: env
    .integer()
    .optional()
    .describe('Inboxes of a verified agent organization; default: no limit'),
  VERIFIED_DOMAIN_LIMIT: env.integer().optional().describe('Domains of one; default: no limit'),

  MAIL_INGEST_URL: env.url().describe('Internal base URL of mail-ingest'),
  MAIL_SEND_URL: env.url().describe('Internal base URL of mail-send'),
  WEBHOOKS_DISPATCHER_URL: env.url().describe('Internal base URL of webhooks-dispatcher'),
  WEBSOCKET_FANOUT_URL: env.url().describe('Internal base URL of websocket-fanout'),
  CALLER_KEY_MAIL_INGEST: env.secret().describe('Key of the caller tokens for this service, equal to its CALLER_KEY'),
  CALLER_KEY_MAIL_SEND: env.secret().describe('The same for mail-send'),
  CALLER_KEY_WEBHOOKS_DISPATCHER: env.secret().describe('The same for webhooks-dispatcher'),
  CALLER_KEY_WEBSOCKET_FANOUT: env.secret().describe('The same for websocket-fanout'),
  PEER_KEY_MAIL_INGEST: env.secret().describe('Key shared with this service for calls between the two'),
  PEER_KEY_MAIL_SEND: env.secret().describe('The same for mail-send'),
  PEER_KEY_WEBHOOKS_DISPATCHER: env.secret().describe('The same for webhooks-dispatcher'),
  PEER_KEY_WEBSOCKET_FANOUT: env.secret().describe('The same for websocket-fanout'),
  UPSTREAM_CONNECTIONS: env
    .integer(10_000, 100_000)
    .describe(
      'Connections to each service behind the gateway. Each request that runs has one, for as long as its peer takes to send and to read: fewer than HTTP_CONNECTIONS would let slow peers hold up the others',
    ),
  UPSTREAM_TIMEOUT: env.duration('60s').describe('How long a service may take to begin its answer'),
  READY_INCLUDES_UPSTREAMS: env.flag(false).describe('Ready only when every service behind the gateway is'),
})

/** The same, with the variables that belong together. */
export const environment = variables.refine(
  ({ DEFAULT_DISPLAY_NAME: name, SYSTEM_SENDER_NAME: system }) => name === undefined || !looksLike(name, system),
  { path: ['DEFAULT_DISPLAY_NAME'], error: 'must not look like SYSTEM_SENDER_NAME' },
)
export type Environment = z.output<typeof environment>

const REPOSITORY_OPENAPI = path.resolve(import.meta.dirname, '../../../docs/api/openapi.json')

/** The flat environment as the code uses it. Pure. */
export function configure(given: Environment) {
  const defaultDomain = given.DEFAULT_DOMAIN.toLowerCase()
  const prefix = `${given.REDIS_PREFIX}:gateway`
  const sender = systemSender(given, defaultDomain)
  return {
    ...commonConfiguration(given),
    internal: internalAddress(given),
    redis: { url: given.REDIS_URL, prefix },
    trustedProxies: given.TRUSTED_PROXIES,
    rateLimits: {
      redis: { url: given.REDIS_CACHE_URL ?? given.REDIS_URL, prefix },
      settings: {
        organization: { ...given.RATE_LIMIT_ORGANIZATION, burst: given.RATE_LIMIT_ORGANIZATION_BURST },
        credential: { ...given.RATE_LIMIT_CREDENTIAL, burst: given.RATE_LIMIT_CREDENTIAL_BURST },
        signUp: given.RATE_LIMIT_SIGN_UP,
        failedAuthentication: given.RATE_LIMIT_FAILED_AUTHENTICATION,
        download: given.RATE_LIMIT_DOWNLOAD,
        sparesLoopback: given.RATE_LIMIT_SPARES_LOOPBACK,
      },
    },
    publicUrls: [given.PUBLIC_URL, ...given.OTHER_PUBLIC_URLS],
    docsUrl: given.DOCS_URL,
    openapiFile: given.OPENAPI_FILE ?? REPOSITORY_OPENAPI,
    cursorSecret: given.CURSOR_SECRET,
    credentials: secretsConfiguration(given),
    podLimit: given.POD_LIMIT,
    credentialLimit: given.CREDENTIAL_LIMIT,
    otherRegionUrl: given.OTHER_REGION_URL,
    addresses: {
      defaultDomain,
      sharedDomains: lowerCase([defaultDomain, ...given.SHARED_DOMAINS]),
      reservedUsernames: reservedUsernames({
        more: given.RESERVED_USERNAMES,
        freed: given.FREE_USERNAMES,
        systemSender: sender.localPart,
      }),
      systemSender: sender,
      defaultDisplayName: given.DEFAULT_DISPLAY_NAME,
    },
    retiredAddressMs: given.RETIRED_ADDRESS_PERIOD,
    auditMs: given.AUDIT_PERIOD,
    inactiveMs: given.UNVERIFIED_ORGANIZATION_PERIOD,
    signUpOffered: given.SIGN_UP,
    signUp: {
      refusedDomains: lowerCase(given.SIGN_UP_REFUSED_DOMAINS),
      verifiedHuman: given.SIGN_UP_VERIFIED_HUMAN,
      verifiedInboxLimit: given.VERIFIED_INBOX_LIMIT,
      verifiedDomainLimit: given.VERIFIED_DOMAIN_LIMIT,
    },
    upstreams: {
      addresses: {
        'mail-ingest': { url: given.MAIL_INGEST_URL, callerKey: given.CALLER_KEY_MAIL_INGEST },
        'mail-send': { url: given.MAIL_SEND_URL, callerKey: given.CALLER_KEY_MAIL_SEND },
        'webhooks-dispatcher': {
          url: given.WEBHOOKS_DISPATCHER_URL,
          callerKey: given.CALLER_KEY_WEBHOOKS_DISPATCHER,
        },
        'websocket-fanout': { url: given.WEBSOCKET_FANOUT_URL, callerKey: given.CALLER_KEY_WEBSOCKET_FANOUT },
      },
      connections: given.UPSTREAM_CONNECTIONS,
      timeoutMs: given.UPSTREAM_TIMEOUT,
      readiness: given.READY_INCLUDES_UPSTREAMS,
    },
    peerKeys: {
      'mail-ingest': given.PEER_KEY_MAIL_INGEST,
      'mail-send': given.PEER_KEY_MAIL_SEND,
      'webhooks-dispatcher': given.PEER_KEY_WEBHOOKS_DISPATCHER,
      'websocket-fanout': given.PEER_KEY_WEBSOCKET_FANOUT,
    },
  }
}
export type Config = ReturnType<typeof configure>

/**
 * Where other services call the gateway. A production configuration has to name the port: a public port that also serves
 * internal operations would come about by leaving a variable out.
 * @throws ConfigurationError
 */
function internalAddress({ INTERNAL_PORT: port, INTERNAL_HOST, INTERNAL_ON_PUBLIC_PORT, HOST, PORT }: Environment) {
  if (INTERNAL_ON_PUBLIC_PORT && port !== undefined) {
    throw new ConfigurationError(['INTERNAL_ON_PUBLIC_PORT must not be true where INTERNAL_PORT is set'])
  }
  if (INTERNAL_ON_PUBLIC_PORT) return 'on the public port' as const
  if (port === undefined) {
    throw new ConfigurationError([
      'INTERNAL_PORT is missing: name the port on which other services call the gateway, and point their GATEWAY_URL there (in a local run, set INTERNAL_ON_PUBLIC_PORT=true instead)',
    ])
  }
  if (port === PORT && port !== 0) throw new ConfigurationError(['INTERNAL_PORT must be another port than PORT'])
  return { port, host: INTERNAL_HOST ?? HOST }
}

/** What keys are made with; the operator's command line needs no more than this and the database. */
export function secretsConfiguration(given: Pick<Environment, 'INSTALLATION_SECRET' | 'REGION'>) {
  return { installationSecret: given.INSTALLATION_SECRET, region: given.REGION }
}

function lowerCase(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map((word) => word.toLowerCase()))
}
