import { z } from 'zod'
import { BASE, define, group } from '../../definition/define.ts'
import { UPGRADE } from '../../definition/operation.ts'

/** The live stream (events 6). Its frames are in `schemas/stream.ts`. */
export const streamOperations = group({
  'stream.connect': define({
    ...BASE,
    id: 'stream.connect',
    method: 'GET',
    path: '',
    prefixes: ['organization'],
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'any',
    service: 'websocket-fanout',
    summary: 'Open the event stream (WebSocket); each subscription checks its own permissions',
    query: z.object({
      api_key: z.string().optional().meta({ description: 'The API key, where no header can be sent.' }),
      auth_token: z.string().optional().meta({ description: 'Other name of api_key.' }),
    }),
    status: 101,
    response: UPGRADE,
  }),
})
