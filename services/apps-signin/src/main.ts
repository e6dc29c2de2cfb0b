import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { openProvider } from './open-provider.ts'
import { openRoutes } from './open-routes.ts'

/** Sign-in of inboxes to third-party apps: the catalog, accounts, the OpenID provider and its pages. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    openRoutes(kit, config)
    openProvider(kit, config)
  },
})

if (import.meta.main) await runService(service)
