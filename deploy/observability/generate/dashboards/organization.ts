import { COUNTED_EVENT_TYPES, RATE_TYPES } from '@restante/contracts/vocabulary'
import { organizationDashboard } from '../frame.ts'
import { countOf, rateAtEnd, seriesOf } from '../sql.ts'
import { sqlGraph, sqlTile } from '../sql-panels.ts'

/** One organization, as its owner sees it in the API: on the database of metrics, not on Prometheus. */
export const organization = organizationDashboard({
  name: 'organization',
  title: 'One organization',
  description: 'What happened in one organization, what is stored in it and what came back of its mail.',
  rows: [
    {
      title: 'At a glance',
      panels: [
        sqlTile({
          title: 'Received',
          description:
            'Messages received in the chosen range, without spam, blocked and unauthenticated ones. It depends.',
          unit: 'short',
          sql: countOf('message.received'),
        }),
        sqlTile({
          title: 'Sent',
          description: 'Messages sent in the chosen range. It depends.',
          unit: 'short',
          sql: countOf('message.sent'),
        }),
        sqlTile({
          title: 'Bounce rate',
          description: 'Share of the recipients of the last day that bounced. Good: below 2 %; 5 % is warned of.',
          unit: 'percentunit',
          sql: rateAtEnd('bounce'),
          limits: { orange: 0.02, red: 0.05 },
        }),
        sqlTile({
          title: 'Complaint rate',
          description: 'Share of the recipients of the last day that complained. Good: below 0.1 %.',
          unit: 'percentunit',
          sql: rateAtEnd('complaint'),
          limits: { orange: 0.001, red: 0.003 },
        }),
      ],
    },
    {
      title: 'What happened',
      panels: [
        sqlGraph({
          title: 'Events by type',
          description: 'Events of each period, as the API counts them at `/v0/metrics/events`.',
          unit: 'short',
          width: 24,
          stacked: true,
          sql: seriesOf('metrics_events', 'count', COUNTED_EVENT_TYPES),
        }),
      ],
    },
    {
      title: 'What is stored',
      panels: [
        sqlGraph({
          title: 'Storage',
          description: 'Bytes of stored messages and drafts with their attachments.',
          unit: 'decbytes',
          sql: seriesOf('metrics_usage', 'value', ['storage_bytes']),
        }),
        sqlGraph({
          title: 'Messages and threads',
          description: 'Messages and threads that are stored, trash and spam included, drafts not.',
          unit: 'short',
          sql: seriesOf('metrics_usage', 'value', ['message_count', 'thread_count']),
        }),
        sqlGraph({
          title: 'Inboxes, domains and pods',
          description: 'Those that exist, as the record of the organization counts them.',
          unit: 'short',
          sql: seriesOf('metrics_usage', 'value', ['inbox_count', 'domain_count', 'pod_count']),
        }),
        sqlGraph({
          title: 'Bounces and complaints',
          description: 'Shares of the recipients of the day before each time. A gap: nothing was sent.',
          unit: 'percentunit',
          sql: seriesOf('metrics_rates', 'value', RATE_TYPES),
        }),
      ],
    },
  ],
})
