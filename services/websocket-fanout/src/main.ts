import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { openStreams } from './open-streams.ts'

/** Live event streams: topics into a log of a day, the log to every instance, each instance to its sockets and polls. */
export const service = defineService({
  configuration,
  assemble: (kit, config) => openStreams(kit, config),
})

if (import.meta.main) await runService(service)
