import { z } from 'zod'
import { BASE, define, group } from '../../definition/define.ts'
import { UPGRADE } from '../../definition/operation.ts'
import { publicEvent } from '../../events/public-events.ts'
import { queryEventTypes } from '../../schemas/event-filter.ts'
import { pageQuery, queryInteger, queryText } from '../../schemas/query.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

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
  'stream.poll': define({
    ...BASE,
    id: 'stream.poll',
    method: 'GET',
    path: '/stream/poll',
    prefixes: ['organization', 'pod', 'inbox'],
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'any',
    alsoNeeds: [
      'message_read',
      'label_spam_read',
      'label_blocked_read',
      'label_unauthenticated_read',
      'calendar_event_read',
    ],
    service: 'websocket-fanout',
    summary:
      'Wait for events of an organization, pod or inbox, without a WebSocket; named event types need their permission',
    waits: LIMITS.stream.pollWait * 1_000,
    errors: ['conflict'],
    query: z.object({
      cursor: queryText(LIMITS.stream.cursor).optional().meta({
        description:
          'The `cursor` of the previous answer, or of a stream, in the same scope. Without one the answer is a cursor, at once.',
      }),
      limit: pageQuery.limit,
      wait: queryInteger({ min: 0, max: LIMITS.stream.pollWait })
        .optional()
        .meta({ description: 'Seconds to wait for a first event; default and maximum 30.' }),
      event_types: queryEventTypes.optional().meta({ description: 'As in `subscribe` of a stream.' }),
    }),
    response: z
      .object({
        events: z.array(publicEvent).meta({ description: 'Oldest first, as webhooks and streams get them.' }),
        cursor: z.string().meta({ description: 'Continues after these events; valid for 24 hours.' }),
        has_more: z
          .literal(true)
          .optional()
          .meta({ description: 'There is more to look through, also where no events came: poll again at once.' }),
      })
      .meta({ id: 'StreamPoll' }),
  }),
})
