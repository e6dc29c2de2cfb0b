import { dashboard } from '../../frame.ts'
import { graph, table, tile } from '../../panels.ts'
import { ofProcesses, series } from '../../queries.ts'

const CHOSEN = 'service=~"$service",instance=~"$instance"'
const own = (metric: string, labels = '') => series(metric, labels === '' ? CHOSEN : `${CHOSEN},${labels}`)
const process = (metric: string) => ofProcesses(metric, CHOSEN)
const rate = (selector: string) => `rate(${selector}[$__rate_interval])`

/** The processes of one service, or of all: what they use, and what they wait for. */
export const runtime = dashboard({
  name: 'runtime',
  title: 'Services',
  description: 'The processes of a service: readiness, memory, event loop, requests, database.',
  variables: [
    { label: 'service', of: 'restante_build_info' },
    { label: 'instance', of: 'restante_build_info' },
  ],
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Processes that are ready',
          description: 'Share of the processes whose /readyz answers 200. Good: 100 %.',
          unit: 'percentunit',
          queries: [{ expr: `avg(${own('restante_ready')})`, legend: 'ready' }],
          limits: { orange: 1, red: 0.7 },
          runbooks: ['RestanteServiceNotReady', 'RestanteReplicaUnavailable'],
        }),
        tile({
          title: 'Busiest event loop',
          description:
            'Share of the time in which the busiest process was not waiting. Good: below 70 %; at 100 % its requests queue up.',
          unit: 'percentunit',
          queries: [{ expr: `max(${rate(own('restante_event_loop_busy_seconds_total'))})`, legend: 'busy' }],
          limits: { orange: 0.7, red: 0.9 },
          runbooks: ['RestanteEventLoopSlow'],
        }),
        tile({
          title: 'Memory of the limit',
          description:
            'Resident memory as a share of the limit of the container, of the worst process. Good: below 80 %.',
          unit: 'percentunit',
          queries: [
            {
              expr: `max(${process('process_resident_memory_bytes')} / on (namespace, service, instance) ${own('restante_memory_limit_bytes')})`,
              legend: 'used',
            },
          ],
          limits: { orange: 0.8, red: 0.9 },
          runbooks: ['RestanteMemoryNearLimit'],
        }),
        tile({
          title: 'Waiting for a database connection',
          description:
            'Statements and transactions that wait for a connection of the pool, of the worst process. Good: 0.',
          unit: 'short',
          queries: [{ expr: `max(${own('restante_database_waiting')})`, legend: 'waiting' }],
          limits: { orange: 5, red: 50 },
          runbooks: ['RestanteDatabasePoolExhausted'],
        }),
      ],
    },
    {
      title: 'Readiness',
      panels: [
        table({
          title: 'Components that make a process unready',
          description: 'What /readyz names when it answers 503. Good: none.',
          unit: 'short',
          query: `${own('restante_unready')} == 1`,
          hidden: ['Value', 'job'],
          runbooks: ['RestanteServiceNotReady', 'RestanteTopicsDiffer'],
        }),
        table({
          title: 'Components that do not work',
          description: 'Background work that is stopped although requests are served. Good: none.',
          unit: 'short',
          query: `${own('restante_degraded')} == 1`,
          hidden: ['Value', 'job'],
          runbooks: ['RestanteComponentDegraded'],
        }),
      ],
    },
    {
      title: 'Process',
      panels: [
        graph({
          title: 'Processor time',
          description:
            'CPU seconds per second by process. Threads that parse mail come on top of the event loop, so that mail-ingest may use more than 1.',
          unit: 'short',
          queries: [{ expr: rate(process('process_cpu_seconds_total')), legend: '{{service}} {{instance}}' }],
        }),
        graph({
          title: 'Memory',
          description: 'Resident memory by process. Good: it stays level over days, below the limit.',
          unit: 'bytes',
          queries: [{ expr: process('process_resident_memory_bytes'), legend: '{{service}} {{instance}}' }],
          runbooks: ['RestanteMemoryNearLimit'],
        }),
        graph({
          title: 'Event loop: busy',
          description: 'Share of the time in which the event loop was not waiting. Good: below 70 %.',
          unit: 'percentunit',
          max: 1,
          queries: [{ expr: rate(own('restante_event_loop_busy_seconds_total')), legend: '{{service}} {{instance}}' }],
          runbooks: ['RestanteEventLoopSlow'],
        }),
        graph({
          title: 'Event loop: delay, 99 %',
          description:
            'How late timers run, for 99 of 100; 10 ms is the resolution of the measurement. Good: below 50 ms.',
          unit: 's',
          queries: [{ expr: process('nodejs_eventloop_lag_p99_seconds'), legend: '{{service}} {{instance}}' }],
          runbooks: ['RestanteEventLoopSlow'],
        }),
        graph({
          title: 'Garbage collection',
          description: 'Share of the time that collections take. Good: below 5 %.',
          unit: 'percentunit',
          queries: [
            {
              expr: `sum by (service, instance) (${rate(process('nodejs_gc_duration_seconds_sum'))})`,
              legend: '{{service}} {{instance}}',
            },
          ],
        }),
        graph({
          title: 'Open file descriptors',
          description: 'Sockets and files. Good: far below the limit of the process; it must not grow without traffic.',
          unit: 'short',
          queries: [{ expr: process('process_open_fds'), legend: '{{service}} {{instance}}' }],
        }),
      ],
    },
    {
      title: 'HTTP',
      panels: [
        graph({
          title: 'Requests by status',
          description: 'Requests that the chosen services answer, internal ones included.',
          unit: 'reqps',
          stacked: true,
          queries: [{ expr: `sum by (status) (${rate(own('restante_http_requests_total'))})`, legend: '{{status}}' }],
          runbooks: ['RestanteApiErrors'],
        }),
        graph({
          title: 'Slowest operations, 95 %',
          description:
            'Time from the request line to the end of the response, for 95 of 100; the ten slowest operations. Requests that wait for events are long by design.',
          unit: 's',
          queries: [
            {
              expr: `topk(10, histogram_quantile(0.95, sum by (le, operation) (${rate(own('restante_http_request_duration_seconds_bucket'))})))`,
              legend: '{{operation}}',
            },
          ],
          runbooks: ['RestanteApiSlow'],
        }),
        graph({
          title: 'Open connections',
          description: 'Of all HTTP ports, WebSockets included.',
          unit: 'short',
          queries: [{ expr: own('restante_http_connections'), legend: '{{service}} {{instance}}' }],
        }),
        graph({
          title: 'Refused requests and connections',
          description: 'Requests beyond a rate limit by limit, and connections beyond a limit. Good: rare.',
          unit: 'ops',
          queries: [
            { expr: `sum by (limit) (${rate(own('restante_rate_limited_total'))})`, legend: 'rate limit {{limit}}' },
            {
              expr: `sum by (limit) (${rate(own('restante_http_connections_refused_total'))})`,
              legend: 'connections {{limit}}',
            },
          ],
          runbooks: ['RestanteConnectionsRefused', 'RestanteRateLimitsNotShared'],
        }),
      ],
    },
    {
      title: 'Database, Redis, object store',
      panels: [
        graph({
          title: 'Transactions, 95 %',
          description:
            'From the request of a connection to the end of a transaction, for 95 of 100. Good: below 0.1 s.',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (le, service) (${rate(own('restante_database_transaction_seconds_bucket'))}))`,
              legend: '{{service}}',
            },
          ],
          runbooks: ['RestanteDatabaseFailing'],
        }),
        graph({
          title: 'Connections of the pools in use',
          description: 'Share of the connections that work. At 100 % others wait.',
          unit: 'percentunit',
          max: 1,
          queries: [
            {
              expr: `${own('restante_database_connections', 'state="active"')} / ignoring (state) ${own('restante_database_connections_max')}`,
              legend: '{{service}} {{instance}}',
            },
          ],
          runbooks: ['RestanteDatabasePoolExhausted'],
        }),
        graph({
          title: 'Database errors',
          description:
            'By class. conflict is retried and normal in small numbers; infrastructure is an outage, a timeout or a full server; other is a defect.',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (service, class) (${rate(own('restante_database_errors_total'))})`,
              legend: '{{service}} {{class}}',
            },
          ],
          runbooks: ['RestanteDatabaseFailing'],
        }),
        graph({
          title: 'Redis',
          description:
            '1 while the Redis of the timers, and the shared counters of rate limits, answer. At 0 timers wait in PostgreSQL, and each gateway counts for itself.',
          unit: 'short',
          queries: [
            { expr: `min by (service) (${own('restante_timers_queue_up')})`, legend: 'timers of {{service}}' },
            { expr: `min by (service) (${own('restante_rate_limits_shared')})`, legend: 'rate limits of {{service}}' },
          ],
          runbooks: ['RestanteQueueRedisDown', 'RestanteRateLimitsNotShared'],
        }),
        graph({
          title: 'Object store, 95 %',
          description: 'Time of the operations, for 95 of 100, by service and operation.',
          unit: 's',
          queries: [
            {
              expr: `histogram_quantile(0.95, sum by (le, service, operation) (${rate(own('restante_blob_seconds_bucket'))}))`,
              legend: '{{service}} {{operation}}',
            },
          ],
        }),
        graph({
          title: 'Object store: errors',
          description: 'Operations that failed because of the disk or the bucket. Good: 0.',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (service, operation) (${rate(own('restante_blob_errors_total'))})`,
              legend: '{{service}} {{operation}}',
            },
          ],
          runbooks: ['RestanteBlobStoreFailing'],
        }),
      ],
    },
  ],
})
