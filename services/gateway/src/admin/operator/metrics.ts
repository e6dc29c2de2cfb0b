import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { ServiceClient } from '@restante/service/http'
import type { MetricsConfig } from './config.ts'

/** Three queries over at most 90 days. */
const ANSWER_MS = 30_000

/** Events, usage and rates of an organization in equal periods. */
export type OrganizationMetrics = InternalResponseOf<'metrics.showOrganization'>

/** What happened in organizations, which the service metrics owns: every command is a call to it. */
export class Metrics {
  readonly #metrics: ServiceClient<'gateway'>

  constructor({ metrics }: MetricsConfig) {
    this.#metrics = new ServiceClient({ from: 'gateway', to: 'metrics', ...metrics })
  }

  close(): Promise<void> {
    return this.#metrics.stop()
  }

  showOrganization(request: InternalRequestOf<'metrics.showOrganization'>): Promise<OrganizationMetrics> {
    return this.#metrics.call('metrics.showOrganization', request, ANSWER_MS)
  }
}
