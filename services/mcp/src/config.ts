import { type ConfigOf, callerVariables, frameConfigurationOf } from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

export const configuration = frameConfigurationOf('mcp', { peers: ['gateway'] })
  .with(callerVariables)
  .with({
    variables: z.object({
      API_URL: env.url().describe('Base URL of the public API inside the installation, which the tools call'),
    }),
    configure: (given) => ({ apiUrl: given.API_URL.replace(/\/+$/, '') }),
  })
export type Config = ConfigOf<typeof configuration>
