import { dashboard } from '../../frame.ts'
import { graph, tile } from '../../panels.ts'
import { inAnHour, largest, perSecond, quantile } from '../../queries.ts'
import { requestsThatFail } from '../../request-tiles.ts'

const SERVICE = 'service="apps-signin"'
const REFUSED = 'outcome=~"invalid_client|invalid_grant|limited"'

/** Sign-in of inboxes to apps: the OpenID provider, its pages, its keys. */
export const signIn = dashboard({
  name: 'sign-in',
  title: 'Sign-in to apps',
  description: 'Sign-ins of inboxes at third-party apps: whether they get through, and the keys that sign for them.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        requestsThatFail('apps-signin', 'RestanteSignInErrors'),
        tile({
          title: 'Refused exchanges within the hour',
          description: 'Wrong secrets, wrong or used codes, and too many of them. Good: few.',
          unit: 'short',
          queries: [{ expr: inAnHour('restante_sign_ins_total', { labels: REFUSED }), legend: 'refused' }],
          limits: { orange: 20, red: 200 },
          runbooks: ['RestanteSignInExchangesRefused'],
        }),
        tile({
          title: 'Age of the signing key',
          description: 'Since the newest key of ID tokens began to sign. Good: below 30 days, also below 0 for a day.',
          unit: 's',
          queries: [{ expr: largest('restante_signing_key_age_seconds'), legend: 'age' }],
          limits: { orange: 2_592_000, red: 2_678_400 },
          runbooks: ['RestanteSigningKeysStale'],
        }),
      ],
    },
    {
      title: 'Steps',
      panels: [
        graph({
          title: 'Sign-ins by outcome',
          description:
            'started, then code, then exchanged: what is missing between them was given up or waits. The others are errors that an app was sent.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_sign_ins_total', { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteSignInExchangesRefused'],
        }),
        graph({
          title: 'Requests by status',
          description: 'All requests to apps-signin, those of the gateway included.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_http_requests_total', { by: 'status', labels: SERVICE }),
              legend: '{{status}}',
            },
          ],
          runbooks: ['RestanteSignInErrors'],
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
          runbooks: ['RestanteSignInErrors'],
        }),
        graph({
          title: 'Keys that cannot be opened',
          description: 'Keys of ID tokens that no encryption key of a process opens. Good: 0.',
          unit: 'short',
          queries: [{ expr: largest('restante_signing_keys_unopenable'), legend: 'keys' }],
          runbooks: ['RestanteSigningKeysStale'],
        }),
      ],
    },
  ],
})
