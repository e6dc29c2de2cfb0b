import { dashboard } from '../frame.ts'
import { graph, table, tile } from '../panels.ts'
import { largest, ofProcesses, perSecond, quantiles, series, share } from '../queries.ts'
import { acceptedMail, firstAttempts, firstRequests, unpublishedEvents } from './stages.ts'

/** Is mail flowing? One tile per stage of a mail, in the order of its way. */
export const overview = dashboard({
  name: 'overview',
  title: 'Overview',
  description:
    'Is mail flowing? Each tile of the first two rows is a stage of the way of a mail: green means that it keeps up.',
  rows: [
    {
      title: 'Is mail flowing?',
      panels: [
        tile({
          title: 'Processes that are ready',
          description:
            'Share of the processes whose /readyz answers 200. Good: 100 %. Below that, requests or mail go to fewer processes; at 0 % of a service its part of the mail flow stands still.',
          unit: 'percentunit',
          queries: [{ expr: `avg(${series('restante_ready')})`, legend: 'ready' }],
          limits: { orange: 1, red: 0.7 },
          runbooks: ['RestanteServiceNotReady', 'RestanteServiceDown'],
        }),
        tile({
          title: 'Accepted mail: oldest unprocessed',
          description:
            'Age of the oldest accepted mail that no pipeline has stored. Good: below a second or two. It grows when the pipelines do not keep up, or when PostgreSQL, the object store or clamd is down.',
          ...acceptedMail,
        }),
        tile({
          title: 'Events: oldest unpublished',
          description:
            'Age of the oldest event that is committed and not yet in Kafka, of the service that is worst. Good: 0. It grows while Kafka is unreachable; nothing is lost meanwhile.',
          ...unpublishedEvents,
        }),
        tile({
          title: 'Consumers: oldest unfinished event',
          description: 'Age of the oldest event that a consumer has fetched and not finished. Good: below a second.',
          unit: 's',
          queries: [{ expr: largest('restante_consumer_lag_seconds'), legend: 'oldest' }],
          limits: { orange: 10, red: 120 },
          runbooks: ['RestanteConsumerLate'],
        }),
        tile({
          title: 'Webhooks: first request, 95 %',
          description:
            'Time from an event to the first request of its delivery, for 95 of 100. Good: below a second. Receivers that fail do not count here; they are retried.',
          ...firstRequests,
        }),
        tile({
          title: 'Outgoing mail: first attempt, 95 %',
          description:
            'Time from the acceptance of a message to its first delivery attempt, for 95 of 100. Good: below a second.',
          ...firstAttempts,
        }),
        tile({
          title: 'API requests that fail here',
          description: 'Share of the requests at the gateway that are answered 5xx. Good: 0.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                `(${perSecond('restante_http_requests_total', { labels: 'service="gateway",status=~"5.."' })} or vector(0))`,
                perSecond('restante_http_requests_total', { labels: 'service="gateway"' }),
              ),
              legend: '5xx',
            },
          ],
          limits: { orange: 0.001, red: 0.01 },
          runbooks: ['RestanteApiErrors'],
        }),
        tile({
          title: 'Dead letters',
          description: 'Events that no attempt of a consumer could handle and that wait for an operator. Good: 0.',
          unit: 'short',
          queries: [{ expr: `sum(${largest('restante_dead_letters', { by: 'namespace, group' })})`, legend: 'stored' }],
          limits: { orange: 1, red: 100 },
          runbooks: ['RestanteDeadLetters'],
        }),
      ],
    },
    {
      title: 'Mail',
      panels: [
        graph({
          title: 'Mail in',
          description:
            'Mails that the SMTP servers accept, and mails that the pipelines conclude (one per recipient). Good: the lines go together; a gap between them is a queue that grows.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_smtp_mails_total', { labels: 'outcome="accepted"' }),
              legend: 'accepted by SMTP',
            },
            { expr: perSecond('restante_mail_attempts_total', { labels: 'outcome="stored"' }), legend: 'stored' },
          ],
        }),
        graph({
          title: 'Mail out',
          description:
            'Outcomes of delivery attempts, one per recipient. Good: mostly delivered; deferred ones are tried again.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_deliveries_total', { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteDeliveriesStuck'],
        }),
        graph({
          title: 'From acceptance to the mailbox',
          description:
            'Time from the 250 of SMTP to the commit that stores a mail. Good: the half of all below 0.2 s, 99 % below 2 s. Mails that wait for DNS are included.',
          unit: 's',
          queries: quantiles([0.5, 0.95, 0.99], 'restante_mail_latency_seconds'),
          runbooks: ['RestanteMailPipelineLate'],
        }),
        graph({
          title: 'Events to agents',
          description: 'Webhook requests and frames of live streams. Good: they follow the mail.',
          unit: 'ops',
          queries: [
            { expr: perSecond('restante_webhook_attempts_total'), legend: 'webhook requests' },
            { expr: perSecond('restante_stream_events_sent_total'), legend: 'frames of streams' },
          ],
        }),
      ],
    },
    {
      title: 'Services',
      panels: [
        graph({
          title: 'API requests',
          description:
            'Requests at the gateway by status. 4xx are errors of clients, 429 among them those beyond a rate limit.',
          unit: 'reqps',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_http_requests_total', { by: 'status', labels: 'service="gateway"' }),
              legend: '{{status}}',
            },
          ],
        }),
        graph({
          title: 'Processor time',
          description:
            'CPU seconds per second, by service. Good: below the requests of the pods; the event loop of one process is full at 1.',
          unit: 'short',
          stacked: true,
          queries: [
            {
              expr: `sum by (service) (rate(${ofProcesses('process_cpu_seconds_total')}[$__rate_interval]))`,
              legend: '{{service}}',
            },
          ],
        }),
        table({
          title: 'Processes',
          description:
            'Versions that run, with the number of their processes. During an upgrade two versions of a service run side by side.',
          unit: 'short',
          query: `count by (namespace, service, version) (${series('restante_build_info')})`,
        }),
        table({
          title: 'Alerts that fire',
          description: 'Good: none. Every alert has a runbook, docs/runbooks/<name>.md.',
          unit: 'short',
          query: `ALERTS{alertname=~"Restante.*",alertstate="firing",namespace=~"$namespace"}`,
          hidden: ['Value', 'alertstate'],
        }),
      ],
    },
  ],
})
