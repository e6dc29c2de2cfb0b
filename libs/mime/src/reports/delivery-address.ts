import { createHmac, timingSafeEqual } from 'node:crypto'
import { normalizeAddress } from '../addresses/address.ts'

const LOCAL = /^([a-z])\+([0-9a-f]{32})([0-9a-f]{20})$/
/** 80 bits: a forger gets one guess per connection, and the local part stays below the 64 octets of RFC 5321. */
const MAC_HEX = 20

export interface DeliveryAddressOptions {
  /** The bounce domain, whose MX is the inbound SMTP of this installation. */
  readonly domain: string
  readonly secret: string
}

/** What tells one kind of addresses from the others. */
interface AddressKind {
  /** First letter of the local part. */
  readonly letter: string
  /** Part of what is signed, so that the MAC of one kind is none of another. */
  readonly purpose: string
}

/**
 * Addresses that identify a delivery: `<letter>+<id><mac>@<bounce domain>`, the id as the hex digits of a UUID and its
 * MAC. Only this installation can make one, so mail to it is about exactly one delivery. Mail systems may change the
 * case of a local part: hex survives that. Its domain may be internationalized, in either form. At the domain of a
 * customer it is part of what is signed: an address is valid at the one domain that it was made for.
 */
export class DeliveryAddress {
  readonly #domain: string
  readonly #secret: string
  readonly #kind: AddressKind

  constructor({ domain, secret }: DeliveryAddressOptions, kind: AddressKind) {
    this.#domain = domainOf(normalizeAddress(`@${domain}`))
    this.#secret = secret
    this.#kind = kind
  }

  /**
   * @param deliveryId a UUID.
   * @param at a domain of a customer instead of the bounce domain; lower case, in ASCII.
   */
  addressFor(deliveryId: string, at = this.#domain): string {
    const id = deliveryId.replaceAll('-', '').toLowerCase()
    return `${this.#kind.letter}+${id}${this.#mac(id, at)}@${at}`
  }

  /** @returns the delivery that an address identifies, or undefined when it is foreign, forged or of another kind. */
  deliveryOf(address: string): string | undefined {
    const normal = normalizeAddress(address)
    const [, letter, id, mac] = LOCAL.exec(normal.slice(0, normal.lastIndexOf('@'))) ?? []
    if (letter !== this.#kind.letter || id === undefined || mac === undefined) return undefined
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(id, domainOf(normal))))) return undefined
    return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }

  #mac(id: string, at: string): string {
    const made = at === this.#domain ? id : `${id} ${at}`
    return createHmac('sha256', this.#secret).update(`${this.#kind.purpose} ${made}`).digest('hex').slice(0, MAC_HEX)
  }
}

function domainOf(normal: string): string {
  return normal.slice(normal.lastIndexOf('@') + 1)
}
