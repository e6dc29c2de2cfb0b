import { z } from 'zod'
import { NOTHING } from '../../definition/define.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

export const takeOverOperations = internalGroup({
  /**
   * Nothing that an earlier key subscribed may be delivered once a take-over is answered (identity 5.1), so the gateway
   * does not wait for the event. Repeating the call, and calls in any order, have one effect.
   */
  'webhooks-dispatcher.endWebhooks': defineInternal({
    ...INTERNAL,
    id: 'webhooks-dispatcher.endWebhooks',
    path: '/internal/webhooks/end',
    service: 'webhooks-dispatcher',
    callers: ['gateway'],
    summary: 'Delete the webhooks that keys from before a take-over created, with their pending deliveries',
    body: z.object({
      organization_id: z.guid(),
      take_overs: z.int().min(0).meta({ description: 'Number of the take-over; webhooks of a lower one end.' }),
    }),
    response: NOTHING,
  }),
  /** The same for streams, polls and cursors: what is logged after the response reaches none of an earlier key. */
  'websocket-fanout.endStreams': defineInternal({
    ...INTERNAL,
    id: 'websocket-fanout.endStreams',
    path: '/internal/streams/end',
    service: 'websocket-fanout',
    callers: ['gateway'],
    summary: 'End the streams and polls of keys from before a take-over, on every instance',
    body: z.object({
      organization_id: z.guid(),
      take_overs: z.int().min(0).meta({ description: 'Number of the take-over; streams of a lower one end.' }),
    }),
    response: NOTHING,
  }),
})
