import { type OperationId, PREFIX } from '@restante/contracts/operations'
import { LIMITS, ROUTE_NOT_FOUND } from '@restante/contracts/vocabulary'
import type { ClientAddresses } from '@restante/service/connections'
import { networkOf } from '@restante/service/connections'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import {
  AdmittedCaller,
  answer,
  type Exchange,
  type Match,
  RawHttpError,
  type Router,
  sendJson,
} from '@restante/service/http'
import { admit } from './access/admission.ts'
import { confirmCaller } from './access/confirmation.ts'
import { resolveCaller } from './access/scope.ts'
import { bearerToken } from './authentication/authorization.ts'
import type { KeyLookup } from './authentication/key-lookup.ts'
import type { KeyUsage } from './authentication/key-usage.ts'
import { answerPreflight, openToBrowsers } from './browsers.ts'
import { compressFor } from './compression.ts'
import type { Documents } from './documents/documents.ts'
import type { DomainSetupPages } from './domain-setup/domain-setup.ts'
import type { McpEndpoint } from './mcp-endpoint.ts'
import type { OpenImages } from './opens/open-images.ts'
import { forward } from './proxy/forward.ts'
import type { Upstreams } from './proxy/upstreams.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import { pathBelow, type Route } from './route-table.ts'
import type { Signatures } from './signatures/authenticate.ts'
import { receiveSigned } from './signatures/receive.ts'
import { isSigned } from './signatures/signed-message.ts'
import type { StreamUpgrade } from './stream-upgrade.ts'
import type { UnsubscribePages } from './unsubscribe/unsubscribe.ts'

export interface EdgeOptions {
  readonly db: Queryable
  readonly routes: Router<Route>
  readonly keys: KeyLookup
  readonly signatures: Signatures
  readonly usage: KeyUsage
  readonly peers: ClientAddresses
  readonly limits: RateLimits
  readonly upstreams: Upstreams
  readonly documents: Documents
  readonly unsubscribe: UnsubscribePages
  readonly openImages: OpenImages
  readonly domainSetup: DomainSetupPages
  readonly mcp: McpEndpoint
  readonly streams: Pick<StreamUpgrade, 'whileWaiting'>
  /** Internal operations for other services; absent where they have a port of their own. */
  readonly internal: ((exchange: Exchange) => Promise<void>) | undefined
}

const INTERNAL = '/internal/'

/** The public edge: `handle` of the gateway's listener. */
export function edge(deps: EdgeOptions): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const { request, response, path } = exchange
    if (deps.internal !== undefined && path.startsWith(INTERNAL)) return deps.internal(exchange)
    if (deps.unsubscribe.matches(exchange)) return deps.unsubscribe.serve(exchange)
    if (deps.openImages.matches(exchange)) return deps.openImages.serve(exchange)
    if (deps.domainSetup.matches(exchange)) return deps.domainSetup.serve(exchange)
    if (deps.mcp.matches(exchange)) return deps.mcp.serve(exchange, (route) => serveOperation(deps, exchange, route))
    openToBrowsers(response)
    if (request.method === 'OPTIONS') return answerPreflight(request, response)
    if ((request.url?.length ?? 0) > LIMITS.request.url) throw new RawHttpError(414, 'URI Too Long')
    compressFor(request, response)
    if (deps.documents.matches(exchange) && (await deps.documents.serve(exchange))) return
    return serveOperation(deps, exchange, matchRoute(deps.routes, exchange))
  }
}

function matchRoute(routes: Router<Route>, { request, response, path }: Exchange): Match<Route> {
  const match = routes.match(request.method ?? '', path)
  if (match !== undefined && 'value' in match) return match
  if (match !== undefined) response.setHeader('allow', allowHeader(match.allowed))
  const fix = match === undefined ? fixOf(routes, path) : undefined
  throw new ApiError('not_found', { message: ROUTE_NOT_FOUND, ...(fix !== undefined && { fix }) })
}

/** The remedy for a path without a route, where one is known. */
function fixOf(routes: Router<Route>, path: string): string | undefined {
  const leads = routes.match('GET', `${PREFIX.organization}${path}`) !== undefined
  return leads ? `Paths begin with ${PREFIX.organization}` : undefined
}

function allowHeader(methods: readonly string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** The order of the checks decides which error is reported (identity 1.11). */
async function serveOperation(deps: EdgeOptions, exchange: Exchange, match: Match<Route>): Promise<void> {
  const { operation, target } = match.value
  exchange.facts['operation'] = operation.id
  if (target.kind === 'upgrade') return requireUpgrade(exchange)
  const peer = deps.peers.of(exchange.request)
  exchange.facts['peer'] = peer
  if (operation.authentication === 'none') {
    await admitKeyless(deps.limits, operation.id, match.params, peer)
    return passOn(deps, exchange, match, { admitted: undefined, peer })
  }
  if (!isSigned(exchange.request)) {
    return passOn(deps, exchange, match, { admitted: await callerOf(deps, exchange, match, peer), peer })
  }
  // From here to the response the body is held in memory: its owner is known only by the signature, which covers the
  // body.
  await exchange.bodies.hold(`peer ${networkOf(peer)}`, async (count) => {
    await passOn(deps, exchange, match, { admitted: await callerOf(deps, exchange, match, peer, count), peer })
  })
}

/** Operations that a link gives access to, without a key. */
const DOWNLOADS: ReadonlySet<string> = new Set<OperationId>([
  'files.download',
  'draftFiles.download',
  'calendarFeeds.get',
])

/** Limits of the operations that take no key. @throws ApiError 429 */
async function admitKeyless(
  limits: RateLimits,
  operation: string,
  params: Readonly<Record<string, string>>,
  peer: string,
): Promise<void> {
  if (operation === 'agent.signUp') await limits.admitSignUp(peer)
  if (DOWNLOADS.has(operation)) await limits.admitDownload(params['token'] ?? '', peer)
}

/** The sender of a request, and its address. */
interface Sender {
  /** Absent for operations that take no key. */
  readonly admitted: AdmittedCaller | undefined
  readonly peer: string
}

async function passOn(
  deps: EdgeOptions,
  exchange: Exchange,
  match: Match<Route>,
  { admitted, peer }: Sender,
): Promise<void> {
  const { operation, target } = match.value
  if (target.kind === 'local') return answer(operation, target.handler, exchange, match.params, { peer }, admitted)
  // A signed body has arrived by now; any other is still to arrive, and the service confirms the caller afterwards.
  const caller = await admitted?.current()
  const upstream = deps.upstreams.of(operation.service)
  const destination = { upstream, operation, path: pathBelow(match.value, match.path) }
  const run = () => forward(destination, exchange, { caller, peer })
  return operation.waits === undefined ? run() : deps.streams.whileWaiting(exchange.requestId, run)
}

/** @param count counts the body of a signed request; without it a key is required. */
async function callerOf(
  deps: EdgeOptions,
  exchange: Exchange,
  { value: route, params }: Match<Route>,
  peer: string,
  count?: (bytes: number) => void,
): Promise<AdmittedCaller> {
  const { facts, request } = exchange
  const since = performance.now()
  const identity = await deps.limits.authenticate(peer, async (sparingly) =>
    count === undefined
      ? deps.keys.authenticate(bearerToken(request.headers.authorization), sparingly)
      : deps.signatures.authenticate(request, sparingly),
  )
  facts['organization_id'] = identity.organizationId
  facts['credential_id'] = identity.credential.id
  deps.usage.note(identity)
  await deps.limits.admit(identity, peer)
  if (count !== undefined) await receiveSigned(exchange, route.operation, count)
  admit(identity, route.operation, route.prefix)
  const caller = await resolveCaller(deps.db, identity, params)
  if (caller.inbox !== undefined) facts['inbox_uid'] = caller.inbox.uid
  return new AdmittedCaller(caller, performance.now() - since, (known) =>
    confirmCaller(deps.db, route.operation, known),
  )
}

/** A plain request to the stream's URL (events 6.1). */
function requireUpgrade({ response }: Exchange): void {
  response.setHeader('upgrade', 'websocket')
  // Without `close` Node would keep a connection open that the client, or a shutdown, has declared finished.
  response.setHeader('connection', 'upgrade, close')
  sendJson(response, 426, { message: 'Upgrade Required' })
}
