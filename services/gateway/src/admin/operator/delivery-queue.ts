import type {
  DeliveryHold,
  HoldScope,
  QueuedDelivery,
  QueueFilter,
  WaitingDestination,
} from '@restante/contracts/internal'
import { ServiceClient } from '@restante/service/http'
import type { QueueConfig } from './config.ts'
import { UsageError } from './usage-error.ts'

/** As long as a statement may take in the database of mail-send, and a little more. */
const ANSWER_MS = 15_000

/** The outbound queue, which mail-send owns: every command is a call to it. */
export class DeliveryQueue {
  readonly #mailSend: ServiceClient<'gateway'>
  readonly #operator: string

  constructor({ mailSend, operator }: QueueConfig) {
    this.#mailSend = new ServiceClient({ from: 'gateway', to: 'mail-send', ...mailSend })
    this.#operator = operator
  }

  close(): Promise<void> {
    return this.#mailSend.stop()
  }

  /** Waiting deliveries by destination, most first. */
  async list(filter: QueueFilter, limit: number): Promise<WaitingDestination[]> {
    const { destinations } = await this.#mailSend.call('mail-send.listQueue', { ...filter, limit }, ANSWER_MS)
    return destinations
  }

  /** A delivery by its id, or all of a message. */
  async show(id: string): Promise<QueuedDelivery[]> {
    const { deliveries } = await this.#mailSend.call('mail-send.showQueued', { id }, ANSWER_MS)
    if (deliveries.length === 0) throw new UsageError(`No delivery and no message ${id} was found.`)
    return deliveries
  }

  /** Makes waiting attempts due now. @returns how many. */
  retry(filter: QueueFilter): Promise<number> {
    return this.#inBatches('mail-send.retryQueued', filter)
  }

  /** Bounces waiting deliveries. @returns how many. */
  drop(filter: QueueFilter): Promise<number> {
    return this.#inBatches('mail-send.dropQueued', filter)
  }

  /** @returns false when it was held already. */
  async hold(scope: HoldScope): Promise<boolean> {
    const request = { ...scope, operator: this.#operator }
    return (await this.#mailSend.call('mail-send.holdQueue', request, ANSWER_MS)).created
  }

  /** Ends the hold of exactly this scope. */
  async release(scope: HoldScope): Promise<void> {
    const request = { ...scope, operator: this.#operator }
    const { released } = await this.#mailSend.call('mail-send.releaseQueue', request, ANSWER_MS)
    if (!released) throw new UsageError('There is no such hold. `queue holds` lists them.')
  }

  /** Oldest first. */
  async holds(): Promise<DeliveryHold[]> {
    return (await this.#mailSend.call('mail-send.listHolds', {}, ANSWER_MS)).holds
  }

  async #inBatches(operation: 'mail-send.retryQueued' | 'mail-send.dropQueued', filter: QueueFilter): Promise<number> {
    let total = 0
    for (;;) {
      const { count, more } = await this.#mailSend.call(operation, { ...filter, operator: this.#operator }, ANSWER_MS)
      total += count
      if (!more) return total
    }
  }
}
