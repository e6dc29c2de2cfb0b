import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'

/** Custom domains: registration, DNS records and their verification, signing keys, one-click setup. */
export const service = defineService({
  configuration,
  assemble() {},
})

if (import.meta.main) await runService(service)
