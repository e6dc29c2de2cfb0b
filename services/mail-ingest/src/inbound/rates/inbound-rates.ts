import { createHmac } from 'node:crypto'
import { subnetOf, withinNetworks } from '@restante/service'
import { isLoopback } from '../../pipeline/loopback.ts'
import type { InboxScope } from '../store.ts'
import type { Counter, RateName, Take } from './counter.ts'
import type { HourlyCounters } from './hourly-counters.ts'

/** Limits per hour (mail 13). */
export interface InboundLimits {
  readonly networkMails: number
  readonly networkBytes: number
  readonly inboxMails: number
  readonly organizationMails: number
}

export interface InboundRatesOptions {
  readonly counters: HourlyCounters
  readonly limits: InboundLimits
  /** Networks that carry the mail of many senders: what they bring is counted for its recipients only. */
  readonly exemptNetworks: readonly string[]
  /** Peers on this machine are exempt from everything: the local stack only. */
  readonly exemptLoopback: boolean
  /** Keys hold networks under a MAC: replicas that share it share their counts. */
  readonly secret: string
}

/** Where a mail comes from: an SMTP peer, or an inbox hosted here. */
export type MailSource =
  | { readonly kind: 'peer'; readonly address: string }
  /** Of the sender; absent for mail of the installation itself. */
  | { readonly kind: 'inside'; readonly organizationId: string | undefined }

/** What was taken, or the limit that left no room. */
export type Admission =
  | { readonly ok: true; readonly taken: readonly Take[] }
  | { readonly ok: false; readonly limit: RateName }

/** One network may take this part of what an inbox or organization receives. */
const SHARE = 4
/** Peers whose network's MAC is kept; then the keeping begins again. */
const KEPT_NETWORKS = 10_000

/** How much mail is taken from a network, and for an inbox and an organization, in an hour (mail 13). */
export class InboundRates {
  readonly #options: InboundRatesOptions
  readonly #isExempt: (address: string) => boolean
  readonly #networks = new Map<string, string>()

  constructor(options: InboundRatesOptions) {
    this.#options = options
    this.#isExempt = withinNetworks(options.exemptNetworks)
  }

  /** A mail of a peer, before it comes. @param bytes as the peer declared them; 0 when it did not. */
  async mail(peer: string, bytes: number): Promise<Admission> {
    if (this.#exemptsPeer(peer)) return { ok: true, taken: [] }
    const { networkMails, networkBytes } = this.#options.limits
    const group = this.#network(peer)
    return this.#take([
      { counter: { name: 'network_mails', group, key: 'mails', limit: networkMails }, amount: 1 },
      { counter: this.#bytes(group, networkBytes), amount: bytes },
    ])
  }

  /** A recipient of a mail: what its inbox and organization get altogether, and of that from one network. */
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

  /** Corrects the bytes of a mail that has come, or never came. @param difference to what its peer declared. */
  correctBytes(peer: string, difference: number): void {
    if (difference === 0 || this.#exemptsPeer(peer)) return
    const counter = this.#bytes(this.#network(peer), this.#options.limits.networkBytes)
    this.#options.counters.add([{ counter, amount: difference }])
  }

  /** Gives back what was taken for recipients who got no mail. */
  giveBack(taken: readonly Take[]): void {
    this.#options.counters.add(taken.map(({ counter, amount }) => ({ counter, amount: -amount })))
  }

  async #take(takes: readonly Take[]): Promise<Admission> {
    const short = await this.#options.counters.take(takes)
    return short ? { ok: false, limit: short.name } : { ok: true, taken: takes }
  }

  /** What shares an inbox with others: a network, or an organization here, but not the inbox's own. */
  #sharing(source: MailSource, { organization_id }: InboxScope): string | undefined {
    if (source.kind === 'peer') return this.#network(source.address)
    return source.organizationId === organization_id ? undefined : (source.organizationId ?? 'installation')
  }

  #bytes(group: string, limit: number): Counter {
    return { name: 'network_bytes', group, key: 'bytes', limit }
  }

  /** Asked several times for each mail of a peer. */
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

function shareOf(limit: number): number {
  return Math.max(1, Math.floor(limit / SHARE))
}
