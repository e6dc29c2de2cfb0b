import type { RecipientAnswer } from '@restante/contracts'
import { LIMITS } from '@restante/contracts'
import type { ReturnPath } from '@restante/mime'
import type { ServiceClient } from '@restante/service'

/** What an envelope recipient stands for here. */
export type Recipient =
  /** An inbox, which takes the mail (`deliver`) or swallows it (`paused`). */
  | { readonly kind: 'inbox'; readonly given: string; readonly answer: Exclude<RecipientAnswer, { status: 'unknown' }> }
  /** A return path of ours: a report about the named delivery. */
  | { readonly kind: 'report'; readonly given: string; readonly deliveryId: string }
  | { readonly kind: 'unknown'; readonly given: string }

type Waiting = { readonly address: string; resolve(answer: RecipientAnswer): void; reject(error: unknown): void }

const BATCH = 100

/**
 * Tells what recipients stand for. Inboxes are asked of their owner each time, so that a deleted one bounces and a
 * paused one swallows from the moment its owner said so; questions of one moment, from however many sessions, go out
 * in one call.
 */
export class RecipientLookup {
  readonly #gateway: ServiceClient
  readonly #returnPath: ReturnPath
  #waiting: Waiting[] = []

  constructor(options: { gateway: ServiceClient; returnPath: ReturnPath }) {
    this.#gateway = options.gateway
    this.#returnPath = options.returnPath
  }

  /** @throws UpstreamError when the owner does not answer within 2 s. */
  async find(given: string): Promise<Recipient> {
    const deliveryId = this.#returnPath.deliveryOf(given)
    if (deliveryId !== undefined) return { kind: 'report', given, deliveryId }
    const answer = await this.ask(given)
    return answer.status === 'unknown' ? { kind: 'unknown', given } : { kind: 'inbox', given, answer }
  }

  /** Asks about one address together with whatever else is asked in this turn of the event loop. */
  ask(address: string): Promise<RecipientAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#askAll())
      this.#waiting.push({ address, resolve, reject })
    })
  }

  #askAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let from = 0; from < waiting.length; from += BATCH) void this.#askBatch(waiting.slice(from, from + BATCH))
  }

  async #askBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const { recipients } = await this.#gateway.call(
        'gateway.resolveRecipients',
        { addresses: batch.map(({ address }) => address) },
        LIMITS.inbound.recipientLookup,
      )
      for (const [index, { address, resolve }] of batch.entries()) {
        resolve(recipients[index] ?? { status: 'unknown', given: address })
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
