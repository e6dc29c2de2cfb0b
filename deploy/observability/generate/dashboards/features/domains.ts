import { dashboard } from '../../frame.ts'
import { graph, tile } from '../../panels.ts'
import { inAnHour, largest, perSecond, quantile, series, share } from '../../queries.ts'

/** Custom domains: their checks, and the certificates of tracking hosts. */
export const domains = dashboard({
  name: 'domains',
  title: 'Domains and certificates',
  description: 'Custom domains: the checks of their DNS records, and the certificates of tracking hosts.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Late checks',
          description: 'Delay of the check that has been due longest and that nobody works on. Good: 0.',
          unit: 's',
          queries: [
            { expr: largest('restante_timers_lag_seconds', { labels: 'service="domains-dns"' }), legend: 'late' },
          ],
          limits: { orange: 60, red: 600 },
          runbooks: ['RestanteTimersLate'],
        }),
        tile({
          title: 'Checks without an answer',
          description:
            'Share of the checks for which no resolver, or only some, answered. Good: below 5 %. Many: the resolvers of the installation have trouble.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('restante_domain_checks_total', { labels: 'outcome=~"partial|unanswered"' }),
                perSecond('restante_domain_checks_total'),
              ),
              legend: 'no answer',
            },
          ],
          limits: { orange: 0.05, red: 0.3 },
          runbooks: ['RestanteDomainChecksUnanswered'],
        }),
        tile({
          title: 'First certificate to expire',
          description:
            'Time until the first certificate of a tracking host expires; 0 when there is none. Good: above two weeks, because they are renewed before.',
          unit: 's',
          queries: [{ expr: `min(${series('restante_certificate_nearest_expiry_seconds')})`, legend: 'expires' }],
          limits: { orange: 1_209_600, red: 259_200 },
          runbooks: ['RestanteCertificateExpires'],
        }),
        tile({
          title: 'Tracking hosts without a certificate',
          description:
            'Hosts whose record is there, and that have no certificate. Good: 0, and above it for minutes after a record was added.',
          unit: 'short',
          queries: [{ expr: largest('restante_certificates', { labels: 'state="missing"' }), legend: 'missing' }],
          limits: { orange: 1, red: 20 },
          runbooks: ['RestanteCertificatesMissing'],
        }),
      ],
    },
    {
      title: 'Checks',
      panels: [
        graph({
          title: 'Checks by outcome',
          description:
            'answered is the good one. partial and unanswered are repeated soon; repeated was asked again to be sure.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_domain_checks_total', { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteDomainChecksUnanswered'],
        }),
        graph({
          title: 'DNS queries by outcome',
          description: 'records and absent are answers, failed is none.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_dns_queries_total', { by: 'outcome' }), legend: '{{outcome}}' }],
        }),
        graph({
          title: 'Duration of timers',
          description: 'Time of an attempt by kind, 95 of 100.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_timers_attempt_seconds', { by: 'kind', labels: 'service="domains-dns"' }),
              legend: '{{kind}}',
            },
          ],
        }),
        graph({
          title: 'Attempts of timers',
          description: 'By kind and outcome. Good: completed and retry.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond('restante_timers_attempts_total', {
                by: 'kind, outcome',
                labels: 'service="domains-dns"',
              }),
              legend: '{{kind}} {{outcome}}',
            },
          ],
        }),
      ],
    },
    {
      title: 'Certificates',
      panels: [
        graph({
          title: 'Tracking hosts by state',
          description:
            'Good: all valid. due are to be renewed, missing have a record and no certificate, revoking are to be revoked.',
          unit: 'short',
          stacked: true,
          queries: [{ expr: largest('restante_certificates', { by: 'state' }), legend: '{{state}}' }],
          runbooks: ['RestanteCertificatesMissing'],
        }),
        graph({
          title: 'Orders and revocations',
          description:
            'Within an hour, by outcome. Good: issued. The other outcomes are reasons why the authority refused.',
          unit: 'short',
          queries: [
            { expr: inAnHour('restante_certificate_orders_total', { by: 'outcome' }), legend: 'order {{outcome}}' },
            {
              expr: inAnHour('restante_certificate_revocations_total', { by: 'outcome' }),
              legend: 'revocation {{outcome}}',
            },
          ],
          runbooks: ['RestanteCertificatesMissing'],
        }),
      ],
    },
  ],
})
