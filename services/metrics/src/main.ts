import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { visitRoutes } from './visits/routes.ts'

/** The purpose of metrics, in one sentence. */
export const service = defineService({
  configuration,
  assemble(kit, { callerKey }) {
    kit.serve({ callerKey, handlers: {}, internal: visitRoutes(kit.db) })
  },
})

if (import.meta.main) await runService(service)
