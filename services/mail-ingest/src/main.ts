import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { serveApi, serveNothing } from './roles/api.ts'
import { openParts } from './roles/parts.ts'
import { openPipeline } from './roles/pipeline.ts'
import { openSmtp } from './roles/smtp.ts'

/**
 * Receives mail by SMTP and serves the mailbox. Each role can run as a process of its own; roles in one process share
 * their components.
 */
export const service = defineService({
  configuration,
  async assemble(kit, config) {
    const parts = await openParts(kit, config)
    if (config.roles.has('pipeline')) openPipeline(kit, config, parts)
    if (config.roles.has('smtp')) openSmtp(kit, config, parts)
    if (config.roles.has('api')) serveApi(kit, config, parts)
    else serveNothing(kit)
  },
})

if (import.meta.main) await runService(service)
