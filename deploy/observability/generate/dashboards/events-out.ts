import { dashboard } from '../frame.ts'
import { graph, tile } from '../panels.ts'
import { largest, perSecond, quantile, quantiles, share, total } from '../queries.ts'
import { firstRequests } from './stages.ts'

/** What agents learn, and when: webhooks and live streams. */
export const eventsOut = dashboard({
  name: 'events-out',
  title: 'Events out',
  description: 'What agents learn, and when: webhooks and live streams.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Webhooks: first request, 95 %',
          description:
            'Time from the creation of a delivery to its first request, for 95 of 100. Good: below a second.',
          ...firstRequests,
        }),
        tile({
          title: 'Webhooks: oldest first request that is due',
          description:
            'Age of the oldest delivery that no request has been made for. Good: below a second. A webhook that already has its limit of requests in flight makes its own deliveries wait.',
          unit: 's',
          queries: [{ expr: largest('restante_webhook_queue_oldest_seconds'), legend: 'oldest' }],
          limits: { orange: 30, red: 300 },
          runbooks: ['RestanteWebhooksLate'],
        }),
        tile({
          title: 'Requests that receivers take',
          description:
            'Share of the webhook requests that are answered 2xx. It depends on the receivers: one broken receiver with much traffic lowers it.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('restante_webhook_attempts_total', { labels: 'decision="delivered"' }),
                perSecond('restante_webhook_attempts_total'),
              ),
              legend: 'delivered',
            },
          ],
          limits: { orange: 0.9, red: 0.5 },
          runbooks: ['RestanteWebhooksNotDelivered', 'RestanteWebhooksFailHere'],
        }),
        tile({
          title: 'Streams: event to frame, 95 %',
          description:
            'Time from an event to its distribution to the open streams, for 95 of 100. Good: below a second.',
          unit: 's',
          queries: [{ expr: quantile(0.95, 'restante_stream_delay_seconds'), legend: '95 %' }],
          limits: { orange: 5, red: 60 },
          runbooks: ['RestanteConsumerLate'],
        }),
      ],
    },
    {
      title: 'Webhooks',
      panels: [
        graph({
          title: 'Requests by decision',
          description:
            'delivered was answered 2xx; retry comes again later; given_up has failed for days; disabled ended its webhook; dropped came when the webhook was gone.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_webhook_attempts_total', { by: 'decision' }), legend: '{{decision}}' }],
          runbooks: ['RestanteWebhooksNotDelivered'],
        }),
        graph({
          title: 'Open deliveries',
          description:
            'new: no request has failed yet. retrying: the receiver has failed, and is asked again for up to three days.',
          unit: 'short',
          stacked: true,
          queries: [{ expr: largest('restante_webhook_queue_waiting', { by: 'state' }), legend: '{{state}}' }],
        }),
        graph({
          title: 'Time to the first request',
          description: 'From the creation of a delivery. Good: half of them within 50 ms.',
          unit: 's',
          queries: quantiles([0.5, 0.95, 0.99], 'restante_webhook_first_attempt_delay_seconds'),
          runbooks: ['RestanteWebhooksLate'],
        }),
        graph({
          title: 'Duration of requests',
          description: 'How long receivers take to answer; the limit is 15 s. It is their time, not ours.',
          unit: 's',
          queries: quantiles([0.5, 0.95], 'restante_webhook_attempt_duration_seconds'),
        }),
        graph({
          title: 'Timers',
          description:
            'Attempts of timers by outcome. Good: completed and retry. interrupted comes with shutdowns, lost and unknown with processes that die.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_timers_attempts_total', {
                by: 'kind, outcome',
                labels: 'service="webhooks-dispatcher"',
              }),
              legend: '{{kind}} {{outcome}}',
            },
          ],
          runbooks: ['RestanteTimersLate', 'RestanteWebhooksFailHere'],
        }),
        graph({
          title: 'Late timers',
          description: 'Delay of the timer that has been due longest and that nobody works on. Good: 0.',
          unit: 's',
          queries: [
            {
              expr: largest('restante_timers_lag_seconds', { by: 'kind', labels: 'service="webhooks-dispatcher"' }),
              legend: '{{kind}}',
            },
          ],
          runbooks: ['RestanteTimersLate', 'RestanteQueueRedisDown'],
        }),
      ],
    },
    {
      title: 'Streams',
      panels: [
        graph({
          title: 'Open streams and polls',
          description:
            'WebSockets and requests that wait for events, of all processes. The gateway pipes each stream: the lines of both go together.',
          unit: 'short',
          queries: [
            { expr: total('restante_stream_connections'), legend: 'streams' },
            { expr: total('restante_gateway_streams'), legend: 'piped by the gateway' },
            { expr: total('restante_stream_polls'), legend: 'polls' },
          ],
        }),
        graph({
          title: 'Frames',
          description: 'Events handed to sockets, live or missed ones.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_stream_events_sent_total'), legend: 'frames' }],
        }),
        graph({
          title: 'Handshakes by status',
          description: 'Good: 101. 401 and 403 are errors of clients, 429 is the limit of streams, 5xx a failure here.',
          unit: 'ops',
          stacked: true,
          queries: [
            { expr: perSecond('restante_gateway_stream_handshakes_total', { by: 'status' }), legend: '{{status}}' },
          ],
          runbooks: ['RestanteStreamsRefused'],
        }),
        graph({
          title: 'Closed streams by code',
          description:
            '1001 maximum age, 1008 key revoked or too many frames, 1011 a failure here, 1012 restart, 1013 the reader was too slow.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_stream_closes_total', { by: 'code' }), legend: '{{code}}' }],
          runbooks: ['RestanteStreamsClosed'],
        }),
        graph({
          title: 'Event to frame',
          description: 'Time from an event to its distribution to the open streams of a process.',
          unit: 's',
          queries: quantiles([0.5, 0.95], 'restante_stream_delay_seconds'),
        }),
        graph({
          title: 'Replays',
          description:
            'Pages of missed events in memory. Each is at most one megabyte; many at once follow a restart of clients.',
          unit: 'short',
          queries: [{ expr: total('restante_stream_pages'), legend: 'pages' }],
        }),
      ],
    },
  ],
})
