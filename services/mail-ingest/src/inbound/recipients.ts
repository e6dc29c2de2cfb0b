import type { RecipientAnswer } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { ReturnPath } from '@restante/mime'
import { Batcher } from '@restante/service/concurrency'
import type { ServiceClient } from '@restante/service/http'

/** What an envelope recipient refers to. */
export type Recipient =
  /** An inbox that accepts the mail (`deliver`) or drops it (`paused`), according to its owner, the gateway. */
  | {
      readonly kind: 'inbox'
      readonly given: string
      readonly answer: Exclude<RecipientAnswer, { status: 'unknown' }>
      /** On the monotonic clock, in milliseconds. */
      readonly askedAt: number
    }
  /** A return path: a report about the named delivery. */
  | { readonly kind: 'report'; readonly given: string; readonly deliveryId: string }
  | { readonly kind: 'unknown'; readonly given: string }

/** Most addresses in one call. */
const MOST = 100
/**
 * Concurrent calls. More of them would each carry fewer addresses; with a single one, a lost answer would hold up all
 * sessions.
 */
const AT_ONCE = 2
/** When a mail arrives later than this after its recipient was looked up, the recipient is looked up again. */
const FRESH_MS = 1_000

/**
 * Resolves recipients. Inboxes are looked up at their owner every time, so that mail for a deleted inbox bounces, and
 * mail for a paused one is dropped, as soon as the owner has acknowledged the change. Addresses that wait at the same
 * time, of any number of sessions, are sent in one call.
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
   * Resolves recipients again after their mail has arrived, which may take a while: an inbox that was paused or deleted
   * in the meantime must not get the mail (identity 8.5, 8.6). An inbox that was paused when it was named still counts
   * as paused.
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

  /** Looks up one address. The owner reads its row after this call, so the answer is current. */
  ask(address: string): Promise<RecipientAnswer> {
    return this.#questions.add(address)
  }
}

async function askOwner(gateway: ServiceClient, addresses: readonly string[]): Promise<RecipientAnswer[]> {
  const question = { addresses: [...addresses] }
  const { recipients } = await gateway.call('gateway.resolveRecipients', question, LIMITS.inbound.recipientLookup)
  return addresses.map((given, index) => recipients[index] ?? { status: 'unknown', given })
}
