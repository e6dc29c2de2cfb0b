import { createHmac } from 'node:crypto'
import { isLoopback, subnetOf, withinNetworks } from '@restante/service/connections'
import type { InboxScope } from '../inbound/store.ts'
import type { Counter, RateName, Take } from './counter.ts'
import type { HourlyCounters } from './hourly-counters.ts'

/** Limits per hour (mail 13). */
export interface InboundLimits {
  readonly networkMails: number
  readonly networkBytes: number
  readonly inboxMails: number
  readonly organizationMails: number
  /** Mails to the operator. */
  readonly operatorMails: number
}

export interface InboundRatesOptions {
  readonly counters: HourlyCounters
  readonly limits: InboundLimits
  /** Networks that send the mail of many senders: their mail is counted for its recipients only. */
  readonly exemptNetworks: readonly string[]
  /** Clients on this machine are exempt from all limits: for the local stack only. */
  readonly exemptLoopback: boolean
  /**
   * Redis keys contain a MAC of the network instead of its address. Replicas share their counts only if they share this
   * secret.
   */
  readonly secret: string
}

/** The source of a mail: an SMTP client, or an inbox hosted here. */
export type MailSource =
  | { readonly kind: 'peer'; readonly address: string }
  /** Organization of the sender; absent for mail of the installation itself. */
  | { readonly kind: 'inside'; readonly organizationId: string | undefined }

/** The amounts taken, or the limit that was reached. */
export type Admission =
  | { readonly ok: true; readonly taken: readonly Take[] }
  | { readonly ok: false; readonly limit: RateName }

/** One network may take a quarter of what an inbox or organization may receive. */
const SHARE = 4
/** One network gets this part of the mails to the operator, so that a few networks cannot use up the limit for everyone. */
const OPERATOR_SHARE = 20
/** Most client addresses for which the MAC of the network is cached. When there are more, the cache is cleared. */
const KEPT_NETWORKS = 10_000

/** Limits for mail from a network, and for an inbox and an organization, per hour (mail 13). */
export class InboundRates {
  readonly #options: InboundRatesOptions
  readonly #isExempt: (address: string) => boolean
  readonly #networks = new Map<string, string>()

  constructor(options: InboundRatesOptions) {
    this.#options = options
    this.#isExempt = withinNetworks(options.exemptNetworks)
  }

  /** Counts a mail of a client, before it arrives. @param bytes as declared by the client; 0 without a declaration. */
  async mail(peer: string, bytes: number): Promise<Admission> {
    if (this.#exemptsPeer(peer)) return { ok: true, taken: [] }
    const { networkMails, networkBytes } = this.#options.limits
    const group = this.#network(peer)
    return this.#take([
      { counter: { name: 'network_mails', group, key: 'mails', limit: networkMails }, amount: 1 },
      { counter: this.#bytes(group, networkBytes), amount: bytes },
    ])
  }

  /**
   * Counts a recipient of a mail: against the limits of its inbox and organization, and against one network's share of
   * them.
   */
  async recipient(source: MailSource, inbox: InboxScope): Promise<Admission> {
    if (source.kind === 'peer' && this.#exemptsAll(source.address)) return { ok: true, taken: [] }
    const { inboxMails, organizationMails } = this.#options.limits
    const { organization_id: group, inbox_uid: uid } = inbox
    const network = this.#sharing(source, inbox)
    const counters: Counter[] = [
      ...(network === undefined
        ? []
        : [
            { name: 'inbox_from_network' as const, group, key: `${uid}:${network}`, limit: shareOf(inboxMails) },
            { name: 'organization_from_network' as const, group, key: network, limit: shareOf(organizationMails) },
          ]),
      { name: 'inbox', group, key: uid, limit: inboxMails },
      { name: 'organization', group, key: 'all', limit: organizationMails },
    ]
    return this.#take(counters.map((counter) => ({ counter, amount: 1 })))
  }

  /** Counts a mail to the operator: against its limit, and against one network's share of it. */
  async operator(source: MailSource): Promise<Admission> {
    if (source.kind === 'peer' && this.#exemptsAll(source.address)) return { ok: true, taken: [] }
    const { operatorMails: limit } = this.#options.limits
    const group = 'operator'
    const network = source.kind === 'peer' ? this.#network(source.address) : (source.organizationId ?? 'installation')
    return this.#take([
      {
        counter: { name: 'operator_from_network', group, key: network, limit: shareOf(limit, OPERATOR_SHARE) },
        amount: 1,
      },
      { counter: { name: 'operator', group, key: 'all', limit }, amount: 1 },
    ])
  }

  /**
   * Corrects the counted bytes of a mail once it has arrived, or if it never does. @param difference to the declared
   * size.
   */
  correctBytes(peer: string, difference: number): void {
    if (difference === 0 || this.#exemptsPeer(peer)) return
    const counter = this.#bytes(this.#network(peer), this.#options.limits.networkBytes)
    this.#options.counters.add([{ counter, amount: difference }])
  }

  /** Gives back what was taken for recipients that got no mail. */
  giveBack(taken: readonly Take[]): void {
    this.#options.counters.add(taken.map(({ counter, amount }) => ({ counter, amount: -amount })))
  }

  async #take(takes: readonly Take[]): Promise<Admission> {
    const short = await this.#options.counters.take(takes)
    return short ? { ok: false, limit: short.name } : { ok: true, taken: takes }
  }

  /** The party whose share of an inbox is counted: a network, or another organization of the installation. */
  #sharing(source: MailSource, { organization_id }: InboxScope): string | undefined {
    if (source.kind === 'peer') return this.#network(source.address)
    return source.organizationId === organization_id ? undefined : (source.organizationId ?? 'installation')
  }

  #bytes(group: string, limit: number): Counter {
    return { name: 'network_bytes', group, key: 'bytes', limit }
  }

  /** The MAC of a client's network. It is cached, because each mail of a client needs it several times. */
  #network(peer: string): string {
    const kept = this.#networks.get(peer)
    if (kept !== undefined) return kept
    const mac = createHmac('sha256', this.#options.secret).update(`inbound rates ${subnetOf(peer)}`)
    const network = mac.digest('base64url').slice(0, 16)
    if (this.#networks.size >= KEPT_NETWORKS) this.#networks.clear()
    this.#networks.set(peer, network)
    return network
  }

  #exemptsPeer(peer: string): boolean {
    return this.#exemptsAll(peer) || this.#isExempt(peer)
  }

  #exemptsAll(peer: string): boolean {
    return this.#options.exemptLoopback && isLoopback(peer)
  }
}

function shareOf(limit: number, share = SHARE): number {
  return Math.max(1, Math.floor(limit / share))
}
