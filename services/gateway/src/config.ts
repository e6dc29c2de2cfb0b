import path from 'node:path'
import { displayName } from '@restante/contracts/operations'
import { UPSTREAMS } from '@restante/contracts/vocabulary'
import {
  type ConfigOf,
  configurationOf,
  cursorVariables,
  type KitOf,
  loopbackExemption,
  redisCacheVariables,
  redisVariables,
  sharedDomainVariables,
  systemSenderVariables,
} from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'
import { credentialVariables } from './credentials/variables.ts'
import { callerKeyVariables } from './edge/proxy/caller-keys.ts'
import { looksLike } from './inboxes/names/look-alikes.ts'
import { reservedUsernames } from './inboxes/names/usernames.ts'
import type { Db } from './storage/database.ts'

/** The variables of no block. */
const variables = z.object({
  INTERNAL_PORT: env
    .port()
    .optional()
    .describe('Port for calls of other services; required unless INTERNAL_ON_PUBLIC_PORT. Must not be public'),
  INTERNAL_HOST: env.string().optional().describe('Address that INTERNAL_PORT listens on; default: HOST'),
  INTERNAL_ON_PUBLIC_PORT: env
    .flag(false)
    .describe('Serve calls of other services on PORT, where only their tokens protect them; for local runs'),
  OTHER_PUBLIC_URLS: env
    .list()
    .refine((urls) => urls.every((url) => URL.canParse(url)), { error: 'must be URLs' })
    .describe('Further URLs of the API, which signed requests may use as well'),
  AUTH_BASE: env
    .url()
    .optional()
    .describe('Origin of the sign-in pages, as apps-signin has it, to be named to agents; default: not named'),
  OPENAPI_FILE: env.string().optional().describe('OpenAPI document to serve; default: the one of this repository'),
  CAPTURED_MAIL_URL: env
    .url()
    .optional()
    .describe(
      'Where outgoing mail is read, if a SMARTHOST captures it instead of delivering it; shown on the start page. Default: not shown',
    ),

  TRACKING_HTTPS_PORT: env
    .port()
    .optional()
    .describe(
      'Port for HTTPS of tracking hosts of custom domains, reachable as port 443 of the TRACKING_HOST of domains-dns; default: not served',
    ),
  TRACKING_HTTP_PORT: env
    .port()
    .optional()
    .describe(
      'Port for HTTP of tracking hosts, reachable as port 80 of the same host: answers to the challenges of the certificate authority; default: not served',
    ),

  TRUSTED_PROXIES: env
    .networks()
    .describe(
      'Addresses and networks (CIDR) of the proxies in front, from which X-Forwarded-For is trusted. Without it all clients of a proxy count as one client. HTTP_PEER_CONNECTIONS does not apply to them',
    ),
  HTTP_PEER_CONNECTIONS: env
    .integer(2_000)
    .describe(
      'Concurrent connections of one client address. TRUSTED_PROXIES are exempt, so list every proxy there: all clients of any other proxy count as one',
    ),
  RATE_LIMIT_ORGANIZATION: env.rate('100/s').describe('Rate limit per organization; beyond it 429'),
  RATE_LIMIT_ORGANIZATION_BURST: env.integer(200, 1_000_000, 1).describe('Burst of the rate limit per organization'),
  RATE_LIMIT_CREDENTIAL: env.rate('50/s').describe('Rate limit per API key'),
  RATE_LIMIT_CREDENTIAL_BURST: env.integer(100, 1_000_000, 1).describe('Burst of the rate limit per API key'),
  RATE_LIMIT_TOOL_CALL: env
    .rate('60/m')
    .describe('Rate limit per API key for calls of tools over MCP; their requests to the API count for its limits too'),
  RATE_LIMIT_SIGN_UP: env
    .rate('60/h')
    .describe('Rate limit for sign-ups per client: an IPv4 address, or the /64 of an IPv6 one'),
  RATE_LIMIT_FAILED_AUTHENTICATION: env
    .rate('300/m')
    .describe('Rate limit per client for requests without a valid API key; requests with a valid one are not affected'),
  RATE_LIMIT_DOWNLOAD: env
    .rate('60/h')
    .describe('Rate limit per download link, and per address of a calendar feed; neither needs an API key'),
  RATE_LIMIT_UNSUBSCRIBE: env
    .rate('60/h')
    .describe('Rate limit per link to unsubscribe; such requests need no API key'),
  RATE_LIMIT_CHALLENGE: env
    .rate('600/m')
    .describe('Rate limit per client for answers to challenges of a certificate authority, on TRACKING_HTTP_PORT'),
  MCP_ORIGINS: env
    .list()
    .describe('Origins of pages that may call the MCP server from a browser, beside that of PUBLIC_URL'),
  OTHER_REGION_URL: env
    .url()
    .optional()
    .describe('API URL of the other region, named to callers that use its keys here'),

  RESERVED_USERNAMES: env
    .list()
    .describe('Further reserved local parts of shared domains. Dots, dashes and underscores are ignored'),
  FREE_USERNAMES: env
    .list()
    .describe(
      'Local parts of shared domains that are reserved by default and should be available; never that of SYSTEM_SENDER',
    ),
  DEFAULT_DISPLAY_NAME: env
    .string()
    .refine((name) => displayName.safeParse(name).success, 'must be one line of at most 256 characters')
    .optional()
    .describe('Default sender name of new inboxes; default: none'),
  RETIRED_ADDRESS_PERIOD: env
    .duration('30d')
    .describe('How long a deleted address is reserved against other organizations'),
  POD_LIMIT: env.integer().optional().describe('Pods per organization; default: no limit'),
  DOMAIN_LIMIT: env
    .integer(100)
    .describe('Custom domains per organization that has no limit of its own; 0: none can be registered'),

  AUDIT_PERIOD: env.duration('400d').describe('How long the audit log of keys and organizations is kept'),

  SIGN_UP: env.flag(true).describe('Allow agents to sign up by themselves'),
  SIGN_UP_REFUSED_DOMAINS: env
    .list('example.com,example.net,example.org')
    .describe('Refused domains of human addresses, including their subdomains'),
  SIGN_UP_VERIFIED_HUMAN: env
    .choice(['provisional', 'refuse'], 'provisional')
    .describe('Result of a repeated sign-up of a verified human: a key to be confirmed with a code, or 403'),
  UNVERIFIED_ORGANIZATION_PERIOD: env
    .duration()
    .optional()
    .describe(
      'Unverified organizations are deleted after this time without a used key or received mail; default: never',
    ),
  VERIFIED_INBOX_LIMIT: env
    .integer()
    .optional()
    .describe('Inboxes of a verified agent organization; default: no limit'),
  VERIFIED_DOMAIN_LIMIT: env
    .integer()
    .optional()
    .describe('Domains of a verified agent organization; default: DOMAIN_LIMIT'),

  UPSTREAM_CONNECTIONS: env
    .integer(10_000, 100_000)
    .describe(
      'Connections to each service behind the gateway. Each running request uses one, for as long as its client takes to send and to read: with fewer than HTTP_CONNECTIONS, slow clients would delay the others',
    ),
  UPSTREAM_TIMEOUT: env.duration('60s').describe('Time limit for a service to begin its response'),
  READY_INCLUDES_UPSTREAMS: env.flag(false).describe('Ready only when every service behind the gateway is'),
})
type Given = z.output<typeof variables>

const DOCS_FOLDER = path.resolve(import.meta.dirname, '../../../docs')

export const configuration = configurationOf('gateway', { peers: UPSTREAMS })
  .with(redisCacheVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with(sharedDomainVariables)
  .with(systemSenderVariables)
  .with(loopbackExemption)
  .with(callerKeyVariables)
  .with(credentialVariables)
  .with({
    variables,
    check: (given) => [...internalProblems(given), ...displayNameProblems(given)],
    configure: (
      given,
      { defaultDomain, sharedDomains, publicUrl, redis, redisCache, systemSender, exemptLoopback },
    ) => ({
      internal: internalAddress(given),
      trackingPorts: { https: given.TRACKING_HTTPS_PORT, http: given.TRACKING_HTTP_PORT },
      trustedProxies: given.TRUSTED_PROXIES,
      rateLimits: {
        redis: { ...redisCache, url: redisCache.url ?? redis.url },
        settings: { ...ratesOf(given), exemptLoopback: exemptLoopback },
      },
      mcpOrigins: [new URL(publicUrl).origin, ...given.MCP_ORIGINS],
      publicUrls: [publicUrl, ...given.OTHER_PUBLIC_URLS],
      authBase: given.AUTH_BASE === undefined ? undefined : new URL(given.AUTH_BASE).origin,
      openapiFile: given.OPENAPI_FILE ?? path.join(DOCS_FOLDER, 'api/openapi.json'),
      docsFolder: DOCS_FOLDER,
      capturedMailUrl: given.CAPTURED_MAIL_URL,
      podLimit: given.POD_LIMIT,
      domainLimit: given.DOMAIN_LIMIT,
      otherRegionUrl: given.OTHER_REGION_URL,
      addresses: {
        defaultDomain,
        sharedDomains,
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
    toolCall: given.RATE_LIMIT_TOOL_CALL,
    signUp: given.RATE_LIMIT_SIGN_UP,
    failedAuthentication: given.RATE_LIMIT_FAILED_AUTHENTICATION,
    download: given.RATE_LIMIT_DOWNLOAD,
    unsubscribe: given.RATE_LIMIT_UNSUBSCRIBE,
    challenge: given.RATE_LIMIT_CHALLENGE,
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
    return port === undefined ? [] : ['INTERNAL_ON_PUBLIC_PORT must not be true when INTERNAL_PORT is set']
  }
  if (port === undefined) {
    return [
      'INTERNAL_PORT is missing: set the port on which other services call the gateway, and point their GATEWAY_URL there (in a local run, set INTERNAL_ON_PUBLIC_PORT=true instead)',
    ]
  }
  return port === PORT && port !== 0 ? ['INTERNAL_PORT must differ from PORT'] : []
}

/** Where other services call the gateway; undefined: on the public port. */
function internalAddress({ INTERNAL_PORT: port, INTERNAL_HOST, HOST }: InternalVariables) {
  return port === undefined ? undefined : { port, host: INTERNAL_HOST ?? HOST }
}

function lowerCase(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map((word) => word.toLowerCase()))
}
