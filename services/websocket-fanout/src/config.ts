import { callerVariables, configurationOf, cursorVariables, type KitOf, redisVariables } from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

export const configuration = configurationOf('websocket-fanout', { peers: ['gateway'] })
  .with(callerVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with({
    variables: z.object({
      STREAM_DRAIN: env.duration('20s').describe('Time over which open streams are closed on shutdown'),
    }),
    configure: (given) => ({ streamDrainMs: given.STREAM_DRAIN }),
  })
export type FanoutKit = KitOf<typeof configuration>
