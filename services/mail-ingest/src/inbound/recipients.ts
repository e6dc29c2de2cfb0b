import type { RecipientAnswer } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { DomainLookup } from '@restante/domains'
import type { Operator } from '@restante/kit'
import { normalizeAddress } from '@restante/mime'
import { Batcher } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { nobodyReceives, refusesMail, takesDmarcReports } from '../domains/rules.ts'
import type { ServiceAddresses, ServiceRecipient } from './service-addresses.ts'

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
  | ServiceRecipient
  /** An address that is taken without an inbox, and whose mail is dropped. */
  | { readonly kind: 'dropped'; readonly given: string }
  /** No inbox has the address, or its domain receives no mail. */
  | { readonly kind: 'unknown'; readonly given: string; readonly why: 'mailbox' | 'domain' }

export interface RecipientLookupOptions {
  readonly gateway: ServiceClient
  readonly addresses: ServiceAddresses
  readonly domains: DomainLookup
  readonly operator: Pick<Operator, 'address' | 'isInside'>
}

type HostedRecipient = Exclude<Recipient, ServiceRecipient>

/** Local part of the addresses of DMARC reports (domains 3). */
const DMARC_REPORTS = 'dmarc'
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
  readonly #addresses: ServiceAddresses
  readonly #domains: DomainLookup
  readonly #operator: Pick<Operator, 'address' | 'isInside'>
  readonly #questions: Batcher<string, RecipientAnswer>

  constructor({ gateway, addresses, domains, operator }: RecipientLookupOptions) {
    this.#addresses = addresses
    this.#domains = domains
    this.#operator = operator
    this.#questions = new Batcher({
      maxItems: MOST,
      concurrency: AT_ONCE,
      work: (addresses) => askOwner(gateway, addresses),
    })
  }

  /** @throws UpstreamError when the owner does not answer within 2 s, or the inbox of the operator does not exist. */
  async find(given: string): Promise<Recipient> {
    const own = this.#addresses.find(given)
    if (own?.kind === 'operator' && this.#operator.isInside) return this.#inboxOfOperator(given)
    return own ?? (await this.findHosted(given))
  }

  /** Resolves an address that is none of the installation itself. @throws UpstreamError as `find` does. */
  async findHosted(given: string): Promise<HostedRecipient> {
    const askedAt = performance.now()
    const [, local = '', domain = ''] = /^(.*)@(.*)$/.exec(normalizeAddress(given)) ?? []
    const [answer, registrations] = await Promise.all([this.ask(given), this.#domains.of(domain)])
    if (answer.status !== 'unknown') {
      if (refusesMail(domain, answer.organization_id, registrations)) return { kind: 'unknown', given, why: 'domain' }
      return { kind: 'inbox', given, answer, askedAt }
    }
    if (local === DMARC_REPORTS && takesDmarcReports(domain, registrations)) return { kind: 'dropped', given }
    return { kind: 'unknown', given, why: nobodyReceives(domain, registrations) ? 'domain' : 'mailbox' }
  }

  /**
   * The inbox of an operator who reads mail here: it gets the mail under both addresses. Without that inbox, mail is
   * deferred until there is one.
   */
  async #inboxOfOperator(given: string): Promise<HostedRecipient> {
    const found = await this.findHosted(this.#operator.address)
    if (found.kind !== 'inbox') throw new UpstreamError('OPERATOR_ADDRESS is an address here without an inbox')
    return { ...found, given }
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
