import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { ConfigOf, KitOf } from '@restante/kit'
import { ClientAddresses } from '@restante/service/connections'
import { type Exchange, RawHttpError } from '@restante/service/http'
import { KeyRing } from '@restante/service/secrets'
import type { configuration } from './config.ts'
import { dispatch } from './http/public-routes.ts'
import { SigningKeyRotation, SigningKeys } from './keys/signing-keys.ts'
import type { openFlow } from './open-flow.ts'
import { pageRoutes } from './pages/index.ts'
import { sendErrorPage } from './provider/error-page.ts'
import { providerRoutes } from './provider/routes.ts'

type Kit = KitOf<typeof configuration>
type Config = ConfigOf<typeof configuration>

/** Serves the sign-in origin: the OpenID provider, its pages, and what their scripts ask. */
export function openProvider(kit: Kit, config: Config, flow: ReturnType<typeof openFlow>): void {
  const { db, log } = kit
  const { encryptionKey: current, previousEncryptionKeys: previous, publicUrl, signedApproval } = config
  const ring = new KeyRing({ current, previous, purpose: 'signing keys' })
  kit.use(new SigningKeyRotation({ db, ring, log }))
  const addresses = new ClientAddresses(config.trustedProxies)
  const addressOf = (request: IncomingMessage) => addresses.of(request)
  const keys = new SigningKeys({ db, ring })
  const { exemptLoopback } = config
  const provider = providerRoutes({ ...flow.options, keys, publicUrl, signedApproval, addressOf, exemptLoopback })
  kit.listen({
    port: config.authPort,
    audience: 'public',
    headerBytes: LIMITS.request.headers,
    limits: { ...config.http.limits, peerConnections: config.peerConnections, isProxy: addresses.isProxy },
    handle: withinUrl(dispatch([...provider, ...flow.publicRoutes, ...pageRoutes()], sendErrorPage)),
  })
}

function withinUrl(handle: (exchange: Exchange) => Promise<void>): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    if ((exchange.request.url?.length ?? 0) > LIMITS.request.url) throw new RawHttpError(414, 'URI Too Long')
    return handle(exchange)
  }
}
