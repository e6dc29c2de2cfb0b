import { dashboard } from '../../frame.ts'
import { graph, tile } from '../../panels.ts'
import { inAnHour, largest, perSecond, quantile } from '../../queries.ts'
import { requestsThatFail } from '../../request-tiles.ts'

const SERVICE = 'service="calendar"'
const BOUNDARY = `${SERVICE},kind="boundary"`

/** Calendars of inboxes: starts and ends of events, invitations in and out, requests. */
export const calendar = dashboard({
  name: 'calendar',
  title: 'Calendars',
  description: 'Calendars of inboxes: whether starts and ends are raised in time, and what becomes of invitations.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Starts and ends',
          description: '99 of 100 are raised within this time after they are due. Good: below 5 s.',
          unit: 's',
          queries: [{ expr: quantile(0.99, 'restante_calendar_boundary_lag_seconds'), legend: '99 %' }],
          limits: { orange: 5, red: 60 },
          runbooks: ['RestanteCalendarStartsLate'],
        }),
        tile({
          title: 'Invitations given up within the hour',
          description: 'Mails about events that mail-send did not take in any attempt. Good: 0.',
          unit: 'short',
          queries: [
            { expr: inAnHour('restante_calendar_invitations_total', { labels: 'outcome="failed"' }), legend: 'failed' },
          ],
          limits: { orange: 1, red: 100 },
          runbooks: ['RestanteWorkGivenUp'],
        }),
        requestsThatFail('calendar', 'RestanteServiceNotReady'),
      ],
    },
    {
      title: 'Events and invitations',
      panels: [
        graph({
          title: 'Oldest start or end that waits',
          description: 'Since when the timer is due that is neither queued nor running. Good: 0.',
          unit: 's',
          queries: [{ expr: largest('restante_timers_lag_seconds', { labels: BOUNDARY }), legend: 'oldest' }],
          runbooks: ['RestanteCalendarStartsLate', 'RestanteTimersLate'],
        }),
        graph({
          title: 'Dates passed over',
          description:
            'Dates that were over when they were noticed, so that nothing was raised. Good: 0, except after an outage.',
          unit: 'short',
          queries: [{ expr: inAnHour('restante_calendar_boundaries_skipped_total'), legend: 'within an hour' }],
          runbooks: ['RestanteCalendarStartsLate'],
        }),
        graph({
          title: 'Work by kind',
          description:
            'Attempts: boundary raises starts and ends, invitation-out mails, invitation-in reads what was mailed here.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_timers_attempts_total', { by: 'kind, outcome', labels: SERVICE }),
              legend: '{{kind}} {{outcome}}',
            },
          ],
          runbooks: ['RestanteWorkGivenUp'],
        }),
        graph({
          title: 'Invitations that leave',
          description: 'Mails about events by outcome; refused ones were stopped by lists or limits of their inbox.',
          unit: 'ops',
          queries: [
            { expr: perSecond('restante_calendar_invitations_total', { by: 'outcome' }), legend: '{{outcome}}' },
          ],
          runbooks: ['RestanteWorkGivenUp'],
        }),
        graph({
          title: 'Requests by status',
          description: 'All requests to calendar, those of the gateway included.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_http_requests_total', { by: 'status', labels: SERVICE }),
              legend: '{{status}}',
            },
          ],
          runbooks: ['RestanteServiceNotReady'],
        }),
        graph({
          title: 'Time of requests',
          description: '95 of 100 are answered within this time.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_http_request_duration_seconds', { labels: SERVICE }),
              legend: '95 %',
            },
          ],
          runbooks: ['RestanteServiceNotReady'],
        }),
      ],
    },
  ],
})
