import type { RecipientAnswer } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { DomainLookup, Registration } from '@restante/domains'
import type { Operator } from '@restante/kit'
import { normalizeAddress } from '@restante/mime'
import { Batcher } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { isReturnPath, nobodyReceives, refusesMail, takesDmarcReports } from '../domains/rules.ts'
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
  /** `dmarc` at a registered domain: receivers of its mail send their reports there. */
  | { readonly kind: 'dmarc'; readonly given: string }
  /** No inbox has the address, or its domain receives no mail. */
  | { readonly kind: 'unknown'; readonly given: string; readonly why: 'mailbox' | 'domain' }

export interface RecipientLookupOptions {
  readonly gateway: ServiceClient
  readonly addresses: ServiceAddresses
  readonly domains: DomainLookup
  readonly operator: Pick<Operator, 'address' | 'isInside'>
}

type HostedRecipient = Exclude<Recipient, ServiceRecipient>
type HostedAnswer = Exclude<RecipientAnswer, { status: 'unknown' }>

/** Local part of the addresses of DMARC reports (domains 3). */
const DMARC_REPORTS = 'dmarc'
/** Every domain that receives mail has this address (RFC 5321 4.5.1), so return paths of custom domains do. */
const POSTMASTER = 'postmaster'
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

  /** @throws UpstreamError when the owner does not answer within 5 s, or the inbox of the operator does not exist. */
  async find(given: string): Promise<Recipient> {
    const own = this.#addresses.find(given)
    if (own?.kind === 'operator') return this.#operatorUnder(given)
    if (own !== undefined) return own
    const hosted = await this.findHosted(given)
    if (hosted.kind !== 'unknown') return hosted
    const { local, domain } = partsOf(given)
    const isForOperator = local === POSTMASTER && (await this.#isSo(domain, (found) => isReturnPath(domain, found)))
    return isForOperator ? this.#operatorUnder(given) : hosted
  }

  /** Resolves an address that is none of the installation itself. @throws UpstreamError as `find` does. */
  async findHosted(given: string): Promise<HostedRecipient> {
    const askedAt = performance.now()
    const { local, domain } = partsOf(given)
    const [answer, registrations] = await Promise.all([this.ask(given), this.#domains.of(domain)])
    if (answer.status !== 'unknown') {
      const receiver = await this.#receiver(domain, answer, registrations)
      return receiver ? { kind: 'inbox', given, answer: receiver, askedAt } : { kind: 'unknown', given, why: 'domain' }
    }
    if (local === DMARC_REPORTS && (await this.#isSo(domain, (found) => takesDmarcReports(domain, found))))
      return { kind: 'dmarc', given }
    return { kind: 'unknown', given, why: nobodyReceives(domain, registrations) ? 'domain' : 'mailbox' }
  }

  /**
   * The inbox that gets the mail for an address: of all organizations that have one there, that which holds the domain
   * now. Where there are several, and where none seems to receive mail, the owner of domains is asked: its newest change
   * may not have arrived here.
   */
  async #receiver(
    domain: string,
    answer: HostedAnswer,
    known: readonly Registration[],
  ): Promise<HostedAnswer | undefined> {
    const { others = [], ...first } = answer
    if (this.#domains.isOwn(domain)) return first
    if (others.length === 0 && !refusesMail(domain, first.organization_id, known)) return first
    const registrations = await this.#domains.ofOwner(domain)
    const { given, address } = first
    return [first, ...others.map((other) => ({ ...other, given, address }))].find(
      ({ organization_id }) => !refusesMail(domain, organization_id, registrations),
    )
  }

  /** Whether something holds of the registrations of a domain, as far as they are known here, or else of the owner's. */
  async #isSo(domain: string, judge: (registrations: readonly Registration[]) => boolean): Promise<boolean> {
    return judge(await this.#domains.of(domain)) || judge(await this.#domains.ofOwner(domain))
  }

  async #operatorUnder(given: string): Promise<Recipient> {
    return this.#operator.isInside ? this.#inboxOfOperator(given) : { kind: 'operator', given }
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

function partsOf(given: string): { readonly local: string; readonly domain: string } {
  const [, local = '', domain = ''] = /^(.*)@(.*)$/.exec(normalizeAddress(given)) ?? []
  return { local, domain }
}

async function askOwner(gateway: ServiceClient, addresses: readonly string[]): Promise<RecipientAnswer[]> {
  const question = { addresses: [...addresses] }
  const { recipients } = await gateway.call('gateway.resolveRecipients', question, LIMITS.inbound.recipientLookup)
  return addresses.map((given, index) => recipients[index] ?? { status: 'unknown', given })
}
