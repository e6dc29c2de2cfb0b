import type { RecipientAnswer } from '@restante/contracts'
import { LIMITS } from '@restante/contracts'
import type { ReturnPath } from '@restante/mime'
import { Batcher, type ServiceClient } from '@restante/service'

/** What an envelope recipient stands for here. */
export type Recipient =
  /** An inbox, which takes the mail (`deliver`) or swallows it (`paused`), as its owner said when it was asked. */
  | {
      readonly kind: 'inbox'
      readonly given: string
      readonly answer: Exclude<RecipientAnswer, { status: 'unknown' }>
      /** Of the clock that cannot be set back, in milliseconds. */
      readonly askedAt: number
    }
  /** A return path of ours: a report about the named delivery. */
  | { readonly kind: 'report'; readonly given: string; readonly deliveryId: string }
  | { readonly kind: 'unknown'; readonly given: string }

/** Most addresses of one question. */
const MOST = 100
/** Questions under way at once: more would be smaller ones, and with a single one a lost answer would hold up everybody. */
const AT_ONCE = 2
/** A mail that is here later than so long after its recipient was asked about has it asked about again. */
const FRESH_MS = 1_000

/**
 * Tells what recipients stand for. Inboxes are asked of their owner each time, so that a deleted one bounces and a
 * paused one swallows from the moment its owner said so; addresses that wait at one moment, from however many sessions, go
 * out in one call.
 */
export class RecipientLookup {
  readonly #returnPath: ReturnPath
  readonly #questions: Batcher<string, RecipientAnswer>

  constructor({ gateway, returnPath }: { gateway: ServiceClient; returnPath: ReturnPath }) {
    this.#returnPath = returnPath
    this.#questions = new Batcher({
      maxItems: MOST,
      concurrency: AT_ONCE,
      work: (addresses) => askOwner(gateway, addresses),
    })
  }

  /** @throws UpstreamError when the owner does not answer within 2 s. */
  async find(given: string): Promise<Recipient> {
    const deliveryId = this.#returnPath.deliveryOf(given)
    if (deliveryId !== undefined) return { kind: 'report', given, deliveryId }
    const askedAt = performance.now()
    const answer = await this.ask(given)
    return answer.status === 'unknown' ? { kind: 'unknown', given } : { kind: 'inbox', given, answer, askedAt }
  }

  /**
   * What recipients stand for now that their mail is here. A peer may take its time for that: an inbox which was paused or
   * deleted meanwhile must not get the mail (identity 8.5, 8.6). One that swallowed when it was named goes on to.
   * @throws UpstreamError as `find` does.
   */
  async renew(recipients: readonly Recipient[]): Promise<Recipient[]> {
    const oldest = performance.now() - FRESH_MS
    return Promise.all(
      recipients.map((recipient) =>
        recipient.kind === 'inbox' && recipient.answer.status === 'deliver' && recipient.askedAt < oldest
          ? this.find(recipient.given)
          : recipient,
      ),
    )
  }

  /** Asks about one address, which is read from its owner's row after this call. */
  ask(address: string): Promise<RecipientAnswer> {
    return this.#questions.add(address)
  }
}

async function askOwner(gateway: ServiceClient, addresses: readonly string[]): Promise<RecipientAnswer[]> {
  const question = { addresses: [...addresses] }
  const { recipients } = await gateway.call('gateway.resolveRecipients', question, LIMITS.inbound.recipientLookup)
  return addresses.map((given, index) => recipients[index] ?? { status: 'unknown', given })
}
