import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { unbuiltHandlers, unbuiltInternal } from './unbuilt.ts'

/** Sign-in of inboxes to third-party apps: the catalog, accounts, the OpenID provider and its pages. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    kit.serve({ callerKey: config.callerKey, handlers: unbuiltHandlers, internal: unbuiltInternal })
  },
})

if (import.meta.main) await runService(service)
