import { defineStatelessService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { openEndpoint } from './endpoint/open-endpoint.ts'

/** Tools for language models. It stores nothing, and reaches nothing but the gateway: it reads what strangers wrote. */
export const service = defineStatelessService({ configuration, assemble: openEndpoint })

if (import.meta.main) await runService(service)
