import { PUBLIC_URL, type TestGateway } from '../gateway.ts'

/** What commands open, of a test gateway. */
export function storesOf(gateway: TestGateway) {
  return {
    operator: () => gateway.operator,
    queue: () => gateway.queue,
    webhooks: () => gateway.webhooks,
    domains: () => gateway.domains,
    apps: () => gateway.apps,
    metrics: () => gateway.metrics,
    installation: () => gateway.installation,
    publicUrl: () => PUBLIC_URL,
  }
}
