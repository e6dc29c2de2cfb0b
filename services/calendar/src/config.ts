import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { callerVariables, configurationOf, cursorVariables, redisVariables } from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

const variables = z.object({
  CALENDAR_EVENTS: env
    .integer(CALENDAR_LIMITS.events)
    .describe('Most one-off and recurring events of one calendar; one more is refused'),
})

export const configuration = configurationOf('calendar', { peers: ['gateway', 'mail-ingest', 'mail-send'] })
  .with(callerVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with({ variables, configure: (given) => ({ mostEvents: given.CALENDAR_EVENTS }) })
