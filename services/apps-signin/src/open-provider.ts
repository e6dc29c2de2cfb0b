import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { ConfigOf, KitOf } from '@restante/kit'
import { ClientAddresses } from '@restante/service/connections'
import { type Exchange, RawHttpError } from '@restante/service/http'
import { KeyRing } from '@restante/service/secrets'
import { Subjects } from './codes/claims.ts'
import type { configuration } from './config.ts'
import { OwnerLinks } from './consents/owner-links.ts'
import { consentRoutes } from './consents/routes.ts'
import { enrollmentRoutes } from './enrollment/routes.ts'
import { dispatch } from './http/public-routes.ts'
import { SigningKeyRotation, SigningKeys } from './keys/signing-keys.ts'
import { pageRoutes } from './pages/index.ts'
import type { ProviderOptions } from './provider/deps.ts'
import { sendErrorPage } from './provider/error-page.ts'
import { providerRoutes } from './provider/routes.ts'

type Kit = KitOf<typeof configuration>
type Config = ConfigOf<typeof configuration>

/** Serves the sign-in origin: the OpenID provider, its pages, and what their scripts ask. */
export function openProvider(kit: Kit, config: Config): void {
  const addresses = new ClientAddresses(config.trustedProxies)
  const options = providerOptions(kit, config, (request) => addresses.of(request))
  const routes = [...providerRoutes(options), ...consentRoutes(options), ...enrollmentRoutes(options), ...pageRoutes()]
  kit.listen({
    port: config.authPort,
    audience: 'public',
    headerBytes: LIMITS.request.headers,
    limits: { ...config.http.limits, peerConnections: config.peerConnections, isProxy: addresses.isProxy },
    handle: withinUrl(dispatch(routes, sendErrorPage)),
  })
}

function providerOptions(kit: Kit, config: Config, addressOf: (request: IncomingMessage) => string): ProviderOptions {
  const { db, log, outbox } = kit
  const { authBase, publicUrl, openClients, signedApproval, encryptionKey, previousEncryptionKeys } = config
  const ring = new KeyRing({ current: encryptionKey, previous: previousEncryptionKeys, purpose: 'signing keys' })
  kit.use(new SigningKeyRotation({ db, ring, log }))
  return {
    db,
    outbox,
    gateway: kit.peer('gateway'),
    keys: new SigningKeys({ db, ring }),
    subjects: new Subjects(config.subjectSecret),
    links: new OwnerLinks({ authBase, secret: encryptionKey }),
    authBase,
    publicUrl,
    openClients,
    signedApproval,
    addressOf,
  }
}

function withinUrl(handle: (exchange: Exchange) => Promise<void>): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    if ((exchange.request.url?.length ?? 0) > LIMITS.request.url) throw new RawHttpError(414, 'URI Too Long')
    return handle(exchange)
  }
}
