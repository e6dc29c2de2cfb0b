import type { InternalRequestOf, ReplayBatch } from '@restante/contracts/internal'
import type { WebhookDelivery } from '@restante/contracts/resources'
import { ServiceClient } from '@restante/service/http'
import type { WebhookLogConfig } from './config.ts'
import { UsageError } from './usage-error.ts'

/** A batch of a replay reads from Kafka for 10 s at most, and stores what it has read. */
const ANSWER_MS = 45_000
const PAGE = 200

export interface LogFilter {
  readonly since?: Date | undefined
  readonly state?: WebhookDelivery['state'] | undefined
}

export interface ReplayedRange {
  readonly from: Date
  readonly to: Date
  readonly isDryRun: boolean
}

/** What a replay has done so far. */
export type ReplayTotal = Omit<ReplayBatch, 'next'>

/** Webhooks and their delivery log, which webhooks-dispatcher owns: every command is a call to it. */
export class WebhookLog {
  readonly #dispatcher: ServiceClient<'gateway'>
  readonly #operator: string

  constructor({ dispatcher, operator }: WebhookLogConfig) {
    this.#dispatcher = new ServiceClient({ from: 'gateway', to: 'webhooks-dispatcher', ...dispatcher })
    this.#operator = operator
  }

  close(): Promise<void> {
    return this.#dispatcher.stop()
  }

  /** Deliveries of a webhook, newest first, a page at a time. */
  async *list(webhookId: string, { since, state }: LogFilter, limit: number): AsyncGenerator<WebhookDelivery[]> {
    let after: InternalRequestOf<'webhooks-dispatcher.listLog'>['after']
    for (let left = limit; left > 0; ) {
      const request = {
        webhook_id: webhookId,
        limit: Math.min(left, PAGE),
        ...(since && { since: since.toISOString() }),
        ...(state && { state }),
        ...(after && { after }),
      }
      const { deliveries } = await this.#dispatcher.call('webhooks-dispatcher.listLog', request, ANSWER_MS)
      if (deliveries === undefined) throw new UsageError(`Webhook ${webhookId} was not found.`)
      const last = deliveries.at(-1)
      if (last === undefined) return
      yield deliveries
      if (deliveries.length < request.limit) return
      left -= deliveries.length
      after = { created_at: last.created_at, delivery_id: last.delivery_id }
    }
  }

  /** Sends one delivery again. */
  async replay(webhookId: string, deliveryId: string): Promise<WebhookDelivery> {
    const request = { webhook_id: webhookId, delivery_id: deliveryId, operator: this.#operator }
    const answer = await this.#dispatcher.call('webhooks-dispatcher.replayDelivery', request, ANSWER_MS)
    if ('refused' in answer) throw new UsageError(answer.refused)
    return answer.delivery
  }

  /**
   * Sends the events of a time range again, batch by batch.
   * @returns after each batch what was done so far.
   */
  async *replayRange(webhookId: string, { from, to, isDryRun }: ReplayedRange): AsyncGenerator<ReplayTotal> {
    const range = { from: from.toISOString(), to: to.toISOString(), dry_run: isDryRun }
    const request = { webhook_id: webhookId, ...range, operator: this.#operator }
    const total = { scanned: 0, matched: 0, queued: 0, pending: 0 }
    for (let after: string | undefined; ; ) {
      const batchRequest = { ...request, ...(after !== undefined && { after }) }
      const answer = await this.#dispatcher.call('webhooks-dispatcher.replayRange', batchRequest, ANSWER_MS)
      if ('refused' in answer) throw new UsageError(answer.refused)
      const { scanned, matched, queued, pending, next } = answer.batch
      total.scanned += scanned
      total.matched += matched
      total.queued += queued
      total.pending += pending
      yield { ...total }
      if (next === undefined) return
      after = next
    }
  }
}
