import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ClientAddresses } from '@restante/service/connections'
import type { Handlers } from '@restante/service/http'
import type { Config, GatewayKit } from './config.ts'
import type { Secrets } from './credentials/secrets.ts'
import type { KeyLookup } from './edge/authentication/key-lookup.ts'
import { KeyUsage } from './edge/authentication/key-usage.ts'
import { Documents } from './edge/documents/documents.ts'
import { DomainSetupPages } from './edge/domain-setup/domain-setup.ts'
import { edge } from './edge/edge.ts'
import { McpEndpoint } from './edge/mcp-endpoint.ts'
import { OpenImages } from './edge/opens/open-images.ts'
import { Upstreams } from './edge/proxy/upstreams.ts'
import { Meter } from './edge/rate-limits/meter.ts'
import { RateLimits } from './edge/rate-limits/rate-limits.ts'
import { routeTable } from './edge/route-table.ts'
import { Signatures } from './edge/signatures/authenticate.ts'
import { forgetNonces } from './edge/signatures/nonces.ts'
import { StreamLinks } from './edge/stream-links.ts'
import { StreamUpgrade } from './edge/stream-upgrade.ts'
import { TrackingHosts } from './edge/tracking/hosts.ts'
import { ReaderPages } from './edge/tracking/reader-pages.ts'
import { UnsubscribePages } from './edge/unsubscribe/unsubscribe.ts'
import { internalHandlers } from './internal/handlers.ts'
import { internalRoutes } from './internal/routes.ts'
import type { TenancyEvents } from './tenancy/events.ts'

interface Parts {
  readonly keys: KeyLookup
  readonly secrets: Secrets
  readonly events: TenancyEvents
  /** The operations that the gateway itself owns. */
  readonly handlers: Handlers<'gateway'>
}

/** Time that a shutdown needs in addition to the streams: the lead of `/readyz`, running requests, timers. */
const DRAIN_RESERVE_MS = 8_000

/** Serves the public API, and what other services ask the gateway. */
export function openEdge(kit: GatewayKit, config: Config, { keys, secrets, handlers, events }: Parts): void {
  const { db, log } = kit
  const limits = openLimits(kit, config)
  const internal = internalRoutes({
    handlers: internalHandlers({ ...config, db, events, secrets, limits, mailSend: kit.peer('mail-send') }),
    peerKeys: config.peers.keys,
  })
  if (config.internal !== undefined) kit.listen({ ...config.internal, handle: internal })
  const peers = new ClientAddresses(config.trustedProxies)
  const peerOf = (request: IncomingMessage) => peers.of(request)
  const usage = kit.use(new KeyUsage(db, log))
  const upstreams = openUpstreams(kit, config)
  const drainMs = Math.max(0, config.shutdownGraceMs - DRAIN_RESERVE_MS)
  const fanout = kit.peer('websocket-fanout')
  const links = kit.use(new StreamLinks({ ...config.peers.of('websocket-fanout'), log }))
  const streams = kit.use(new StreamUpgrade({ db, keys, usage, peers, limits, upstreams, links, fanout, log, drainMs }))
  const openImages = new OpenImages({ mailSend: kit.peer('mail-send'), peerOf })
  kit.use(forgetNonces(db, log))
  openTracking(kit, config, { openImages, limits, peers })
  kit.listen({
    limits: { ...config.http.limits, isProxy: peers.isProxy },
    headerBytes: LIMITS.request.headers,
    audience: 'public',
    handle: edge({
      db,
      routes: routeTable(handlers, config.signUpOffered ? [] : ['agent.signUp']),
      keys,
      signatures: new Signatures({ db, publicUrls: config.publicUrls }),
      usage,
      peers,
      limits,
      upstreams,
      streams,
      documents: new Documents({ ...config, health: kit.health }),
      unsubscribe: new UnsubscribePages({ mailSend: kit.peer('mail-send'), limits, peerOf }),
      openImages,
      mcp: new McpEndpoint(config.mcpOrigins),
      domainSetup: new DomainSetupPages({ domains: kit.peer('domains-dns'), limits, peerOf }),
      internal: config.internal === undefined ? internal : undefined,
    }),
    upgrade: streams.accept,
  })
}

interface TrackingParts {
  readonly openImages: OpenImages
  readonly limits: RateLimits
  readonly peers: ClientAddresses
}

/** Serves the tracking hosts of custom domains, on ports of their own. */
function openTracking(kit: GatewayKit, config: Config, { openImages, limits, peers }: TrackingParts): void {
  const { https, http } = config.trackingPorts
  const owner = kit.peer('domains-dns')
  const hosts = new TrackingHosts(owner)
  const pages = new ReaderPages({ hosts, openImages, owner, limits, peerOf: (request) => peers.of(request) })
  const common = {
    limits: { ...config.http.limits, isProxy: peers.isProxy },
    headerBytes: LIMITS.request.headers,
    audience: 'readers',
  } as const
  if (http !== undefined) kit.listen({ ...common, port: http, handle: pages.servePlain })
  if (https === undefined) return
  kit.listen({
    ...common,
    port: https,
    handle: pages.serveSecure,
    secureContextOf: (servername) => hosts.contextOf(servername),
  })
}

function openLimits(kit: GatewayKit, { rateLimits }: Config): RateLimits {
  const { redis, settings } = rateLimits
  const meter = kit.use(new Meter({ url: redis.url, trust: redis.trust, log: kit.log }))
  return new RateLimits({ meter, prefix: redis.prefix, settings })
}

function openUpstreams(kit: GatewayKit, { peers, callerKeys, upstreams }: Config): Upstreams {
  const addresses = new Map([...callerKeys].map(([name, callerKey]) => [name, { url: peers.of(name).url, callerKey }]))
  return kit.use(new Upstreams({ ...upstreams, addresses }))
}
