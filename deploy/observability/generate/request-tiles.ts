import type { ServiceName } from '@restante/contracts/vocabulary'
import { tile } from './panels.ts'
import { perSecond, share } from './queries.ts'

/** The share of the requests to a service that fail. @param runbook the alert whose runbook the tile links to. */
export function requestsThatFail(service: ServiceName, runbook: string) {
  const requests = (labels: string) =>
    perSecond('restante_http_requests_total', { labels: `service="${service}"${labels}` })
  return tile({
    title: 'Requests that fail',
    description: `Share of the requests to ${service} that are answered with 5xx. Good: below 1 %.`,
    unit: 'percentunit',
    queries: [{ expr: share(requests(',status=~"5.."'), requests('')), legend: 'failed' }],
    limits: { orange: 0.01, red: 0.05 },
    runbooks: [runbook],
  })
}
