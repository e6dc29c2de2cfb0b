import { z } from 'zod'
import { NOTHING } from '../definition/define.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { defineInternal, INTERNAL, internalGroup } from './definition/define.ts'

/** Calls from the edge to the owner of the live streams. */
export const websocketFanoutInternalOperations = internalGroup({
  /** A gateway that shuts down names its streams, so that their clients reconnect elsewhere, spread over time. */
  'websocket-fanout.drainConnections': defineInternal({
    ...INTERNAL,
    id: 'websocket-fanout.drainConnections',
    path: '/internal/connections/drain',
    service: 'websocket-fanout',
    callers: ['gateway'],
    summary: 'Have these connections closed with 1012 by whichever instances hold them, spread over the given time',
    body: z.object({
      request_ids: z
        .array(z.string())
        .max(LIMITS.stream.connectionsPerOrganization * 100)
        .meta({ description: '`X-Request-Id` of each handshake.' }),
      over_ms: z.int().min(0).max(20_000),
    }),
    response: NOTHING,
  }),
})
