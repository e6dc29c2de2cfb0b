import { createHmac, timingSafeEqual } from 'node:crypto'

const PREFIX = 'b+'
const LOCAL = /^b\+([0-9a-f]{32})([0-9a-f]{20})$/
/** 80 bits: a forger gets one guess per connection, and the local part stays below the 64 octets of RFC 5321. */
const MAC_HEX = 20

/**
 * The envelope sender of outgoing mail, which identifies the delivery: `b+<id><mac>@<bounce domain>`, the id as the hex
 * digits of a UUID and its MAC. Reports return to it, so that each is about exactly one delivery, and a report about
 * another sender's mail cannot be forged. Mail systems may change the case of a local part: hex survives that.
 */
export class ReturnPath {
  readonly #domain: string
  readonly #secret: string

  /** @param domain the bounce domain, whose MX is the inbound SMTP of this installation. */
  constructor(options: { readonly domain: string; readonly secret: string }) {
    this.#domain = options.domain.toLowerCase()
    this.#secret = options.secret
  }

  /** @param deliveryId a UUID. */
  addressFor(deliveryId: string): string {
    const id = deliveryId.replaceAll('-', '').toLowerCase()
    return `${PREFIX}${id}${this.#mac(id)}@${this.#domain}`
  }

  /** @returns the delivery that a recipient address identifies, or undefined when it is foreign or forged. */
  deliveryOf(address: string): string | undefined {
    const text = address.toLowerCase()
    const at = text.lastIndexOf('@')
    if (text.slice(at + 1) !== this.#domain) return undefined
    const [, id, mac] = LOCAL.exec(text.slice(0, at)) ?? []
    if (id === undefined || mac === undefined) return undefined
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(id)))) return undefined
    return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }

  #mac(id: string): string {
    return createHmac('sha256', this.#secret).update(`return path ${id}`).digest('hex').slice(0, MAC_HEX)
  }
}
