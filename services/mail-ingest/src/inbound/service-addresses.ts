import type { Operator } from '@restante/kit'
import { normalizeAddress, ReturnPath, UnsubscribeAddress } from '@restante/mime'
import type { ComplaintAddresses } from './complaint-addresses.ts'

/** An address of the installation itself, which is no inbox. */
export type ServiceRecipient =
  /** A return path: a report about the named delivery. */
  | { readonly kind: 'report'; readonly given: string; readonly deliveryId: string }
  /** The unsubscribe address of the named delivery: its recipient wants no more mail. */
  | { readonly kind: 'unsubscribe'; readonly given: string; readonly deliveryId: string }
  /** An address that is registered with feedback loops of providers. */
  | { readonly kind: 'complaint'; readonly given: string }
  /** `postmaster` or `abuse` of the installation: its operator reads the mail. */
  | { readonly kind: 'operator'; readonly given: string }

export interface ServiceAddressOptions {
  /** The domain and the secret of return paths and unsubscribe addresses. */
  readonly returnPath: { readonly domain: string; readonly secret: string }
  readonly complaintAddresses: ComplaintAddresses
  readonly operator: Pick<Operator, 'names'>
}

/** Recognizes the addresses by which the installation itself receives mail. They take precedence over inboxes. */
export class ServiceAddresses {
  readonly #returnPath: ReturnPath
  readonly #unsubscribe: UnsubscribeAddress
  readonly #complaints: ComplaintAddresses
  readonly #operator: Pick<Operator, 'names'>

  constructor({ returnPath, complaintAddresses, operator }: ServiceAddressOptions) {
    this.#returnPath = new ReturnPath(returnPath)
    this.#unsubscribe = new UnsubscribeAddress(returnPath)
    this.#complaints = complaintAddresses
    this.#operator = operator
  }

  /** What an envelope recipient refers to, if it is an address of the installation. */
  find(given: string): ServiceRecipient | undefined {
    const reported = this.#returnPath.deliveryOf(given)
    if (reported !== undefined) return { kind: 'report', given, deliveryId: reported }
    const unsubscribed = this.#unsubscribe.deliveryOf(given)
    if (unsubscribed !== undefined) return { kind: 'unsubscribe', given, deliveryId: unsubscribed }
    const address = normalizeAddress(given)
    if (this.#complaints.has(address)) return { kind: 'complaint', given }
    return this.#operator.names.has(address) ? { kind: 'operator', given } : undefined
  }
}
