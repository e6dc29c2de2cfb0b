import { dashboard } from '../../frame.ts'
import { graph, table, tile } from '../../panels.ts'
import { inAnHour, largest, perSecond, quantile, share } from '../../queries.ts'
import { firstAttempts } from '../stages.ts'

/** From the acceptance of a message to the answer of its recipient's server. */
export const mailOut = dashboard({
  name: 'mail-out',
  title: 'Mail out',
  description: 'From the acceptance of a message to the answer of the server of its recipient, by destination.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'First attempt, 95 %',
          description:
            'Time from the acceptance of a message to its first attempt, for 95 of 100. Good: below a second.',
          ...firstAttempts,
        }),
        tile({
          title: 'Late timers',
          description: 'Delay of the delivery timer that has been due longest and that nobody works on. Good: 0.',
          unit: 's',
          queries: [
            { expr: largest('restante_timers_lag_seconds', { labels: 'kind=~"delivery-.*"' }), legend: 'late' },
          ],
          limits: { orange: 10, red: 120 },
          runbooks: ['RestanteTimersLate'],
        }),
        tile({
          title: 'Delivered of what was decided',
          description:
            'Share of the recipients outside that were delivered, of those delivered, bounced or rejected. Good: above 95 %.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('restante_deliveries_total', { labels: 'outcome="delivered"' }),
                perSecond('restante_deliveries_total', { labels: 'outcome=~"delivered|bounced|rejected"' }),
              ),
              legend: 'delivered',
            },
          ],
          limits: { orange: 0.95, red: 0.8 },
          runbooks: ['RestanteDeliveriesStuck', 'RestanteProviderRefuses'],
        }),
        tile({
          title: 'Deliveries that wait',
          description:
            'Recipients that are not finished, deferred ones included. Good: it falls again after each burst.',
          unit: 'short',
          queries: [
            {
              expr: `sum(${largest('restante_delivery_queue_waiting', { by: 'namespace, destination' })})`,
              legend: 'waiting',
            },
          ],
          limits: { orange: 10000, red: 100000 },
          runbooks: ['RestanteDeliveryQueueOld'],
        }),
      ],
    },
    {
      title: 'Destinations',
      panels: [
        table({
          title: 'Destinations with the longest queues',
          description:
            'Recipients that wait, for the 20 destinations with most of them, and all others together. One destination with a queue has trouble of its own; many at once mean trouble here.',
          unit: 'short',
          query: `sort_desc(${largest('restante_delivery_queue_waiting', { by: 'namespace, destination' })})`,
          runbooks: ['RestanteDeliveryQueueOld'],
        }),
        graph({
          title: 'Oldest delivery by destination',
          description:
            'Time since the acceptance of the oldest message that waits. Retries go on for days, so that a single old destination is normal.',
          unit: 's',
          queries: [
            {
              expr: `topk(10, ${largest('restante_delivery_queue_oldest_seconds', { by: 'destination' })})`,
              legend: '{{destination}}',
            },
          ],
          runbooks: ['RestanteDeliveryQueueOld'],
        }),
        graph({
          title: 'Outcomes by provider',
          description:
            'Outcomes of attempts at large mailbox providers by name, at all others together. Good: delivered; a provider whose deferred or bounced share grows has lost trust in the source addresses.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_delivery_outcomes_total', { by: 'provider, outcome' }),
              legend: '{{provider}} {{outcome}}',
            },
          ],
          runbooks: ['RestanteProviderRefuses'],
        }),
        graph({
          title: 'Not delivered, by provider',
          description:
            'Share of the outcomes that are deferred or bounced. Good: below 5 %; greylisting defers the first mail to a new destination.',
          unit: 'percentunit',
          max: 1,
          queries: [
            {
              expr: share(
                perSecond('restante_delivery_outcomes_total', {
                  by: 'provider',
                  labels: 'outcome=~"deferred|bounced"',
                }),
                perSecond('restante_delivery_outcomes_total', { by: 'provider' }),
              ),
              legend: '{{provider}}',
            },
          ],
          runbooks: ['RestanteProviderRefuses'],
        }),
      ],
    },
    {
      title: 'Attempts',
      panels: [
        graph({
          title: 'Outcomes by route',
          description: 'local is a hand-over to an inbox here, outside an SMTP server. deferred is tried again.',
          unit: 'ops',
          stacked: true,
          queries: [
            { expr: perSecond('restante_deliveries_total', { by: 'route, outcome' }), legend: '{{route}} {{outcome}}' },
          ],
          runbooks: ['RestanteDeliveriesStuck'],
        }),
        graph({
          title: 'Duration of attempts',
          description:
            'Time of one attempt, 95 of 100: all recipients of a message at one destination. Slow destinations have workers of their own.',
          unit: 's',
          queries: [
            { expr: quantile(0.95, 'restante_delivery_attempt_seconds', { by: 'route' }), legend: '{{route}}' },
          ],
        }),
        graph({
          title: 'Timers',
          description:
            'Attempts of timers by kind and outcome. Good: completed and retry; lost and unknown mean that processes die or lose their leases.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_timers_attempts_total', { by: 'kind, outcome', labels: 'service="mail-send"' }),
              legend: '{{kind}} {{outcome}}',
            },
          ],
          runbooks: ['RestanteTimersLate', 'RestanteQueueRedisDown'],
        }),
        graph({
          title: 'Start of timers',
          description: 'Time from when a timer was due to its attempt, 95 of 100. Good: below 0.5 s.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_timers_start_delay_seconds', {
                by: 'kind',
                labels: 'service="mail-send"',
              }),
              legend: '{{kind}}',
            },
          ],
          runbooks: ['RestanteTimersLate'],
        }),
      ],
    },
    {
      title: 'Reputation and mail of the installation',
      panels: [
        graph({
          title: 'Organizations warned or suspended',
          description: 'Within an hour, by the rate that was too high. Good: rarely any.',
          unit: 'short',
          queries: [
            {
              expr: inAnHour('restante_reputation_findings_total', { by: 'consequence, rate' }),
              legend: '{{consequence}}: {{rate}}',
            },
          ],
          runbooks: ['RestanteOrganizationSuspended'],
        }),
        graph({
          title: 'Mail of the installation that was refused; possible duplicates',
          description:
            'Codes and mail to the operator that were refused for good, and deliveries that were repeated because their outcome was not known after a crash. Good: 0.',
          unit: 'short',
          queries: [
            { expr: inAnHour('restante_installation_mail_failures_total'), legend: 'mail of the installation refused' },
            { expr: inAnHour('restante_delivery_unknown_outcomes_total'), legend: 'outcome not known' },
          ],
        }),
        graph({
          title: 'Scheduled drafts',
          description: 'Drafts that were due, by outcome. Good: sent.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_scheduled_drafts_total', { by: 'outcome' }), legend: '{{outcome}}' }],
        }),
        graph({
          title: 'Scans for viruses',
          description: 'Outgoing messages are scanned once. They wait as long as clamd does not answer.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_virus_scans_total', { by: 'outcome', labels: 'service="mail-send"' }),
              legend: '{{outcome}}',
            },
          ],
          runbooks: ['RestanteVirusScannerDown'],
        }),
      ],
    },
  ],
})
