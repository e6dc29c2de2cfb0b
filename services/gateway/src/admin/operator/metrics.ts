import type { InternalRequestOf, InternalResponseOf, MetricsRebuild } from '@restante/contracts/internal'
import { pause } from '@restante/service/concurrency'
import { ServiceClient } from '@restante/service/http'
import type { MetricsConfig } from './config.ts'
import { UsageError } from './usage-error.ts'

/** Three queries over at most 90 days. */
const ANSWER_MS = 30_000
/** Between two questions how far a rebuild has come. */
const FOLLOW_MS = 1_000

/** Events, usage and rates of an organization in equal periods. */
export type OrganizationMetrics = InternalResponseOf<'metrics.showOrganization'>

/** What happened in organizations, which the service metrics owns: every command is a call to it. */
export class Metrics {
  readonly #metrics: ServiceClient<'gateway'>
  readonly #operator: string
  readonly #closing = new AbortController()

  constructor({ metrics, operator }: MetricsConfig) {
    this.#operator = operator
    this.#metrics = new ServiceClient({ from: 'gateway', to: 'metrics', ...metrics })
  }

  close(): Promise<void> {
    this.#closing.abort()
    return this.#metrics.stop()
  }

  showOrganization(request: InternalRequestOf<'metrics.showOrganization'>): Promise<OrganizationMetrics> {
    return this.#metrics.call('metrics.showOrganization', request, ANSWER_MS)
  }

  /** Starts a rebuild, unless one is running. @returns how far it has come, until it has ended. */
  async *rebuild(): AsyncGenerator<MetricsRebuild> {
    const { rebuild } = await this.#metrics.call('metrics.startRebuild', { operator: this.#operator }, ANSWER_MS)
    yield rebuild
    for (let current = rebuild; current.state === 'reading'; ) {
      await pause(FOLLOW_MS, this.#closing.signal)
      current = await this.lastRebuild()
      yield current
    }
  }

  /** The last rebuild, running or not. */
  async lastRebuild(): Promise<MetricsRebuild> {
    const { rebuild } = await this.#metrics.call('metrics.getRebuild', {}, ANSWER_MS)
    if (rebuild === undefined) throw new UsageError('There was no rebuild yet.')
    return rebuild
  }

  /** Has the service compare its totals with their owners. @returns false when it is doing so. */
  async compare(): Promise<boolean> {
    return (await this.#metrics.call('metrics.compare', { operator: this.#operator }, ANSWER_MS)).started
  }
}
