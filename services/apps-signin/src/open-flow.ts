import type { ConfigOf, KitOf } from '@restante/kit'
import { KeyRing } from '@restante/service/secrets'
import { Subjects } from './codes/claims.ts'
import type { configuration } from './config.ts'
import { connectRoutes } from './connect/routes.ts'
import { OwnerLinks } from './consents/owner-links.ts'
import { consentRoutes } from './consents/routes.ts'
import { enrollmentRoutes } from './enrollment/routes.ts'

/**
 * The steps of a sign-in beside the OpenID provider: what agents ask, what browsers call, and what `passConsent` needs.
 */
export function openFlow(kit: KitOf<typeof configuration>, config: ConfigOf<typeof configuration>) {
  const { db, outbox } = kit
  const { authBase, openClients, encryptionKey, previousEncryptionKeys: previous } = config
  const ring = new KeyRing({ current: encryptionKey, previous, purpose: 'answers of connect' })
  const links = new OwnerLinks({ authBase, secret: encryptionKey })
  const subjects = new Subjects(config.subjectSecret)
  const options = { db, outbox, gateway: kit.peer('gateway'), authBase, openClients, ring, links, subjects }
  return {
    options,
    handlers: connectRoutes(options),
    publicRoutes: [...enrollmentRoutes(options), ...consentRoutes(options)],
  }
}
