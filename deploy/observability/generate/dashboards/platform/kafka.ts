import { dashboard } from '../../frame.ts'
import { graph, table, tile } from '../../panels.ts'
import { largest, perSecond, quantile, series, total } from '../../queries.ts'
import { unpublishedEvents } from '../stages.ts'

/** From a committed event to its effect in another service. */
export const kafka = dashboard({
  name: 'kafka',
  title: 'Kafka',
  description: 'From a committed event to its effect in another service: outbox, lag of consumers, dead letters.',
  variables: [{ label: 'group', of: 'restante_consumer_joined' }],
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Oldest unpublished event',
          description:
            'Age of the oldest event that is committed and not in Kafka, of the service that is worst. Good: 0.',
          ...unpublishedEvents,
        }),
        tile({
          title: 'Oldest unfinished event',
          description: 'Age of the oldest record that a consumer has fetched and not finished. Good: below a second.',
          unit: 's',
          queries: [
            { expr: largest('restante_consumer_lag_seconds', { labels: 'group=~"$group"' }), legend: 'oldest' },
          ],
          limits: { orange: 10, red: 120 },
          runbooks: ['RestanteConsumerLate'],
        }),
        tile({
          title: 'Consumers that are not in their group',
          description:
            'Processes whose consumer is not a member of its group at the moment. Good: 0; above 0 for seconds at a start or a rebalance.',
          unit: 'short',
          queries: [
            {
              expr: `count(${series('restante_consumer_joined', 'group=~"$group"')} == 0) or vector(0)`,
              legend: 'not joined',
            },
          ],
          limits: { orange: 1, red: 5 },
          runbooks: ['RestanteConsumerStopped'],
        }),
        tile({
          title: 'Dead letters and parked events',
          description:
            'Events that no attempt could handle, and events that Kafka refuses. Both wait for an operator. Good: 0.',
          unit: 'short',
          queries: [
            {
              expr: `sum(${largest('restante_dead_letters', { by: 'namespace, group' })}) + sum(${largest('restante_outbox_parked_rows', { by: 'namespace, service' })})`,
              legend: 'waiting',
            },
          ],
          limits: { orange: 1, red: 100 },
          runbooks: ['RestanteDeadLetters', 'RestanteEventParked'],
        }),
      ],
    },
    {
      title: 'Outbox',
      panels: [
        graph({
          title: 'Events published',
          description: 'By topic. It follows mail and API requests.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_outbox_published_total', { by: 'topic' }), legend: '{{topic}}' }],
        }),
        graph({
          title: 'Unpublished events',
          description: 'Rows that wait for the relay, by service, counted up to 10,000. Good: near 0.',
          unit: 'short',
          queries: [{ expr: largest('restante_outbox_unpublished_rows', { by: 'service' }), legend: '{{service}}' }],
          runbooks: ['RestanteOutboxLate'],
        }),
        graph({
          title: 'Age of the oldest unpublished event',
          description: 'By service. Good: 0. All services at once: Kafka. One service: its database, or its relay.',
          unit: 's',
          queries: [{ expr: largest('restante_outbox_lag_seconds', { by: 'service' }), legend: '{{service}}' }],
          runbooks: ['RestanteOutboxLate'],
        }),
        graph({
          title: 'Leading relays',
          description: 'Processes that publish, by service. Good: exactly 1 of each service.',
          unit: 'short',
          queries: [{ expr: total('restante_outbox_leading', { by: 'service' }), legend: '{{service}}' }],
          runbooks: ['RestanteOutboxLate'],
        }),
      ],
    },
    {
      title: 'Consumers',
      panels: [
        graph({
          title: 'Lag in seconds',
          description: 'Age of the oldest record that is fetched and not finished, by group. Good: below a second.',
          unit: 's',
          queries: [
            {
              expr: largest('restante_consumer_lag_seconds', { by: 'group', labels: 'group=~"$group"' }),
              legend: '{{group}}',
            },
          ],
          runbooks: ['RestanteConsumerLate'],
        }),
        graph({
          title: 'Lag in records',
          description:
            'Records that are written and not finished, by group and topic, as of the last fetch of each partition. A paused partition does not fetch: its number is a lower bound.',
          unit: 'short',
          queries: [
            {
              expr: total('restante_consumer_lag_records', { by: 'group, topic', labels: 'group=~"$group"' }),
              legend: '{{group}} {{topic}}',
            },
          ],
          runbooks: ['RestanteConsumerLate'],
        }),
        graph({
          title: 'Events by outcome',
          description:
            'handled is the good one; duplicate was handled before; skipped is of no interest to the service; dead_letter could not be handled.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_consumer_events_total', { by: 'outcome', labels: 'group=~"$group"' }),
              legend: '{{outcome}}',
            },
          ],
        }),
        graph({
          title: 'Events ahead of a backlog',
          description:
            'Fresh events that did not wait for older ones of their partition; among those that are handled.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_consumer_events_ahead_total', { by: 'group', labels: 'group=~"$group"' }),
              legend: '{{group}}',
            },
          ],
          runbooks: ['RestanteConsumerLate'],
        }),
        graph({
          title: 'Time per event',
          description:
            'From the start of an event, or of a batch, to its outcome, retries included; 95 of 100 by group.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_consumer_handling_seconds', { by: 'group', labels: 'group=~"$group"' }),
              legend: '{{group}}',
            },
          ],
        }),
        graph({
          title: 'Retries',
          description:
            'infrastructure is repeated without limit, deterministic a few times before the event becomes a dead letter. Good: 0.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_consumer_retries_total', { by: 'group, class', labels: 'group=~"$group"' }),
              legend: '{{group}} {{class}}',
            },
          ],
        }),
        graph({
          title: 'Paused partitions',
          description:
            'Partitions that do not fetch because their queues are full or wait for the infrastructure. Good: 0, and above it only during bursts.',
          unit: 'short',
          queries: [
            {
              expr: total('restante_consumer_paused_partitions', { by: 'group', labels: 'group=~"$group"' }),
              legend: '{{group}}',
            },
          ],
          runbooks: ['RestanteConsumerPaused'],
        }),
      ],
    },
    {
      title: 'What waits for an operator',
      panels: [
        table({
          title: 'Dead letters',
          description:
            'Stored dead letters by group. Good: 0 everywhere. `npm run dead-letters -- list` shows them, `replay` publishes them again.',
          unit: 'short',
          query: largest('restante_dead_letters', { by: 'namespace, group' }),
          runbooks: ['RestanteDeadLetters'],
        }),
        table({
          title: 'Parked events',
          description: 'Events that Kafka refuses for good, by service. Good: 0 everywhere.',
          unit: 'short',
          query: largest('restante_outbox_parked_rows', { by: 'namespace, service' }),
          runbooks: ['RestanteEventParked'],
        }),
      ],
    },
  ],
})
