import {
  callerVariables,
  configurationOf,
  cursorVariables,
  dnsVariables,
  encryptionVariables,
  outboundVariables,
  redisVariables,
} from '@restante/kit'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

export const configuration = configurationOf('webhooks-dispatcher', { peers: ['gateway', 'mail-ingest'] })
  .with(callerVariables)
  .with(redisVariables)
  .with(cursorVariables)
  .with(encryptionVariables)
  .with(outboundVariables)
  .with(dnsVariables)
  .with({
    variables: z.object({
      DELIVERY_CONCURRENCY: env
        .integer(50, 1_000)
        .describe(
          'Concurrent webhook requests of this process that begin with their event, and as many from the queue',
        ),
    }),
    configure: (given) => ({ deliveryConcurrency: given.DELIVERY_CONCURRENCY }),
  })
