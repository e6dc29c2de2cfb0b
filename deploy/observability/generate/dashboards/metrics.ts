import { dashboard } from '../frame.ts'
import { graph, tile } from '../panels.ts'
import { inAnHour, largest, perSecond, quantile, series } from '../queries.ts'
import { requestsThatFail } from '../request-tiles.ts'

const SERVICE = 'service="metrics"'
const SINCE_COMPARED = `time() - max(${series('restante_metrics_compared_timestamp_seconds')} > 0)`
const SINCE_SETTLED = `time() - max(${series('restante_metrics_settled_timestamp_seconds')})`

/** Metrics for customers: how far counting is behind, settling, and the time of answers. */
export const metrics = dashboard({
  name: 'metrics',
  title: 'Metrics of organizations',
  description: 'The service that counts what happens in organizations: whether it keeps up, and how fast it answers.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Counting',
          description: '99 of 100 events are counted within this time after they happened. Good: below 5 s.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'restante_metrics_count_lag_seconds'), legend: '99 %' }],
          limits: { orange: 3, red: 5 },
          runbooks: ['RestanteMetricsLate'],
        }),
        tile({
          title: 'Settling',
          description: 'Time since everything that was due was settled. Good: below a minute.',
          unit: 's',
          queries: [{ expr: SINCE_SETTLED, legend: 'since' }],
          limits: { orange: 120, red: 600 },
          runbooks: ['RestanteMetricsUnsettled'],
        }),
        tile({
          title: 'Time of answers',
          description: '95 of 100 requests to metrics are answered within this time. Good: below 50 ms.',
          unit: 's',
          queries: [
            { expr: quantile(0.95, 'restante_http_request_duration_seconds', { labels: SERVICE }), legend: '95 %' },
          ],
          limits: { orange: 0.1, red: 1 },
          runbooks: ['RestanteServiceNotReady'],
        }),
        requestsThatFail('metrics', 'RestanteServiceNotReady'),
      ],
    },
    {
      title: 'Counting and settling',
      panels: [
        graph({
          title: 'Events counted',
          description: 'Events that change a series of an organization, and with it those of a pod and an inbox.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_metrics_count_lag_seconds_count'), legend: 'events' }],
          runbooks: ['RestanteMetricsLate'],
        }),
        graph({
          title: 'Behind the events',
          description: 'From an event until it is counted. Good: below 5 s.',
          unit: 's',
          queries: [
            { expr: quantile(0.5, 'restante_metrics_count_lag_seconds'), legend: '50 %' },
            { expr: quantile(0.99, 'restante_metrics_count_lag_seconds'), legend: '99 %' },
          ],
          runbooks: ['RestanteMetricsLate'],
        }),
        graph({
          title: 'Behind the topics',
          description: 'Age of the oldest record that is fetched and not finished, by consumer. Good: below 5 s.',
          unit: 's',
          queries: [
            { expr: largest('restante_consumer_lag_seconds', { by: 'group', labels: SERVICE }), legend: '{{group}}' },
          ],
          runbooks: ['RestanteMetricsLate', 'RestanteConsumerLate'],
        }),
        graph({
          title: 'Rows that wait to be settled',
          description: 'At most 15 of each series and day, so that it grows during a day (UTC) and falls after it.',
          unit: 'short',
          queries: [{ expr: largest('restante_metrics_arrivals'), legend: 'rows' }],
          runbooks: ['RestanteMetricsUnsettled'],
        }),
        graph({
          title: 'Oldest point that is not settled',
          description: 'Good: at most a day, for which a quiet series waits.',
          unit: 's',
          queries: [{ expr: largest('restante_metrics_oldest_arrival_seconds'), legend: 'oldest' }],
          runbooks: ['RestanteMetricsUnsettled'],
        }),
        graph({
          title: 'Time of settling',
          description: '95 of 100 transactions, each of at most 200 series and days, take less. Good: below 1 s.',
          unit: 's',
          queries: [{ expr: quantile(0.95, 'restante_metrics_settle_duration_seconds'), legend: '95 %' }],
          runbooks: ['RestanteMetricsUnsettled'],
        }),
      ],
    },
    {
      title: 'Comparison with the owners',
      panels: [
        graph({
          title: 'Since the last comparison',
          description:
            'Usage totals are compared every night with the services that own what is counted. Good: below 30 h.',
          unit: 's',
          queries: [{ expr: SINCE_COMPARED, legend: 'since' }],
          runbooks: ['RestanteMetricsNotCompared'],
        }),
        graph({
          title: 'Totals corrected',
          description:
            'Within an hour, one for each scope. The first comparison fills totals; later ones should have nothing to correct.',
          unit: 'short',
          queries: [{ expr: inAnHour('restante_metrics_drift_total', { by: 'series' }), legend: '{{series}}' }],
          runbooks: ['RestanteMetricsDrift'],
        }),
      ],
    },
    {
      title: 'Answers',
      panels: [
        graph({
          title: 'Requests by operation',
          description: 'All requests to metrics, those of the gateway and of operators included.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_http_requests_total', { by: 'operation', labels: SERVICE }),
              legend: '{{operation}}',
            },
          ],
          runbooks: ['RestanteServiceNotReady'],
        }),
        graph({
          title: 'Time by operation',
          description: '95 of 100 are answered within this time.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_http_request_duration_seconds', { by: 'operation', labels: SERVICE }),
              legend: '{{operation}}',
            },
          ],
          runbooks: ['RestanteServiceNotReady'],
        }),
      ],
    },
  ],
})
