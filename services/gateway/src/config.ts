import path from 'node:path'
import { displayName, LIMITS, UPSTREAMS } from '@restante/contracts'
import {
  type ConfigOf,
  configurationOf,
  cursorVariables,
  defaultDomainVariables,
  type KitOf,
  loopbackExemption,
  redisCacheVariables,
  redisVariables,
  systemSenderVariables,
} from '@restante/kit'
import { env } from '@restante/service'
import { z } from 'zod'
import type { Db } from './database.ts'
import { callerKeyVariables } from './edge/caller-keys.ts'
import { looksLike } from './inboxes/look-alikes.ts'
import { reservedUsernames } from './inboxes/usernames.ts'

/** The variables that only the gateway has. */
export const variables = z.object({
  INTERNAL_PORT: env
    .port()
    .optional()
    .describe('Port of the calls of other services; required unless INTERNAL_ON_PUBLIC_PORT. Keep it from the world'),
  INTERNAL_HOST: env.string().optional().describe('Address that INTERNAL_PORT listens on; default: HOST'),
  INTERNAL_ON_PUBLIC_PORT: env
    .flag(false)
    .describe('Serve the calls of other services on PORT, where only their tokens protect them; for local runs'),
  OTHER_PUBLIC_URLS: env
    .list()
    .refine((urls) => urls.every((url) => URL.canParse(url)), { error: 'must be URLs' })
    .describe('Further addresses of the API, which signed requests may name as well'),
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
  INSTALLATION_SECRET: env
    .secret()
    .describe('Key of the hashes of API keys and of verification codes; never change it'),
  REGION: env.choice(['us', 'eu'], 'us').describe('Region in the prefix of new API keys'),
  OTHER_REGION_URL: env.url().optional().describe('API of the other region, named to callers with a key of it'),

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

  UPSTREAM_CONNECTIONS: env
    .integer(10_000, 100_000)
    .describe(
      'Connections to each service behind the gateway. Each request that runs has one, for as long as its peer takes to send and to read: fewer than HTTP_CONNECTIONS would let slow peers hold up the others',
    ),
  UPSTREAM_TIMEOUT: env.duration('60s').describe('How long a service may take to begin its answer'),
  READY_INCLUDES_UPSTREAMS: env.flag(false).describe('Ready only when every service behind the gateway is'),
})
type Given = z.output<typeof variables>

const REPOSITORY_OPENAPI = path.resolve(import.meta.dirname, '../../../docs/api/openapi.json')

export const configuration = configurationOf('gateway', { peers: UPSTREAMS })
  .with(redisCacheVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with(defaultDomainVariables)
  .with(systemSenderVariables)
  .with(loopbackExemption)
  .with(callerKeyVariables)
  .with({
    variables,
    check: (given) => [...internalProblems(given), ...displayNameProblems(given)],
    configure: (given, { defaultDomain, publicUrl, redis, redisCache, systemSender, exemptLoopback }) => ({
      internal: internalAddress(given),
      trustedProxies: given.TRUSTED_PROXIES,
      rateLimits: {
        redis: { ...redisCache, url: redisCache.url ?? redis.url },
        settings: { ...ratesOf(given), sparesLoopback: exemptLoopback },
      },
      publicUrls: [publicUrl, ...given.OTHER_PUBLIC_URLS],
      openapiFile: given.OPENAPI_FILE ?? REPOSITORY_OPENAPI,
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
          systemSender: systemSender.localPart,
        }),
        systemSender,
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
        connections: given.UPSTREAM_CONNECTIONS,
        timeoutMs: given.UPSTREAM_TIMEOUT,
        readiness: given.READY_INCLUDES_UPSTREAMS,
      },
    }),
  })
export type Config = ConfigOf<typeof configuration>
export type GatewayKit = KitOf<typeof configuration, Db>

function ratesOf(given: Given) {
  return {
    organization: { ...given.RATE_LIMIT_ORGANIZATION, burst: given.RATE_LIMIT_ORGANIZATION_BURST },
    credential: { ...given.RATE_LIMIT_CREDENTIAL, burst: given.RATE_LIMIT_CREDENTIAL_BURST },
    signUp: given.RATE_LIMIT_SIGN_UP,
    failedAuthentication: given.RATE_LIMIT_FAILED_AUTHENTICATION,
    download: given.RATE_LIMIT_DOWNLOAD,
  }
}

function displayNameProblems(given: { DEFAULT_DISPLAY_NAME?: string | undefined; SYSTEM_SENDER_NAME: string }) {
  const { DEFAULT_DISPLAY_NAME: name, SYSTEM_SENDER_NAME: system } = given
  return name !== undefined && looksLike(name, system)
    ? ['DEFAULT_DISPLAY_NAME must not look like SYSTEM_SENDER_NAME']
    : []
}

interface InternalVariables {
  readonly INTERNAL_PORT?: number | undefined
  readonly INTERNAL_HOST?: string | undefined
  readonly INTERNAL_ON_PUBLIC_PORT: boolean
  readonly HOST: string
  readonly PORT: number
}

/**
 * A production configuration has to name the port of internal calls: otherwise a public port that also serves internal
 * operations would come about by leaving a variable out.
 */
function internalProblems({ INTERNAL_PORT: port, INTERNAL_ON_PUBLIC_PORT, PORT }: InternalVariables): string[] {
  if (INTERNAL_ON_PUBLIC_PORT) {
    return port === undefined ? [] : ['INTERNAL_ON_PUBLIC_PORT must not be true where INTERNAL_PORT is set']
  }
  if (port === undefined) {
    return [
      'INTERNAL_PORT is missing: name the port on which other services call the gateway, and point their GATEWAY_URL there (in a local run, set INTERNAL_ON_PUBLIC_PORT=true instead)',
    ]
  }
  return port === PORT && port !== 0 ? ['INTERNAL_PORT must be another port than PORT'] : []
}

/** Where other services call the gateway; undefined: on the public port. */
function internalAddress({ INTERNAL_PORT: port, INTERNAL_HOST, HOST }: InternalVariables) {
  return port === undefined ? undefined : { port, host: INTERNAL_HOST ?? HOST }
}

/** What keys are made with; the operator's command line needs no more than this and the database. */
export function secretsConfiguration(given: Pick<Given, 'INSTALLATION_SECRET' | 'REGION'>) {
  return { installationSecret: given.INSTALLATION_SECRET, region: given.REGION }
}

function lowerCase(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map((word) => word.toLowerCase()))
}
