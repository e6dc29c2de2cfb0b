import { z } from 'zod'
import { NOTHING } from '../definition/define.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { defineInternal, INTERNAL, internalGroup } from './define.ts'

/** What the edge asks the owner of the live streams. */
export const websocketFanoutInternalOperations = internalGroup({
  /** An edge that is going away names the sockets it pipes, so that their clients come back elsewhere, not all at once. */
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
