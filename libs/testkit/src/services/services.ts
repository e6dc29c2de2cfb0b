import type { Service } from '@restante/service/process'
import { createLogger, type Logger } from '@restante/service/telemetry'
import { waitFor } from '../timing/wait-for.ts'

/**
 * Starts a service inside the process of the test and resolves when it is ready. `LOG_LEVEL` turns its log on.
 * The caller stops it.
 */
export async function startService<Config>(
  { create }: { readonly create: (config: Config, log: Logger) => Service | Promise<Service> },
  config: Config,
): Promise<Service> {
  const log = createLogger({ service: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' })
  const service = await create(config, log)
  try {
    await service.start()
    await waitFor(
      async () => {
        const problems = { ...(await service.problems()), ...(await service.degradations()) }
        if (Object.keys(problems).length > 0) throw new Error(JSON.stringify(problems))
        return true
      },
      { what: `${service.name} to be ready` },
    )
    return service
  } catch (error) {
    await service.stop()
    throw error
  }
}
