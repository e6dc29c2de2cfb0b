import { createHmac, timingSafeEqual } from 'node:crypto'

const ID_BYTES = 16
/** 128 bits: unlike guesses at an address by SMTP, those at a link are cheap. */
const MAC_BYTES = 16

export interface UnsubscribeLinkOptions {
  /** The public URL of this installation. */
  readonly publicUrl: string
  readonly secret: string
}

/**
 * The link of a List-Unsubscribe field (RFC 8058): `<public URL>/u/<token>`. The token is the id of the delivery and its
 * MAC, in base64url. Only this installation can make one, so only the recipient, and whoever the mail was forwarded to,
 * has it.
 */
export class UnsubscribeLink {
  readonly #base: string
  readonly #secret: string

  constructor({ publicUrl, secret }: UnsubscribeLinkOptions) {
    // In the form of a header field: ASCII, whatever the host is written in.
    this.#base = `${new URL(publicUrl).href.replace(/\/+$/, '')}/u/`
    this.#secret = secret
  }

  /** @param deliveryId a UUID. */
  linkFor(deliveryId: string): string {
    const id = Buffer.from(deliveryId.replaceAll('-', ''), 'hex')
    return this.#base + Buffer.concat([id, this.#mac(id)]).toString('base64url')
  }

  /** @returns the delivery that a token identifies; undefined when it is altered or forged. */
  deliveryOf(token: string): string | undefined {
    const bytes = Buffer.from(token, 'base64url')
    // Compared as text, too: base64url has several spellings of the same bytes, and only one is accepted.
    if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
    const id = bytes.subarray(0, ID_BYTES)
    if (!timingSafeEqual(bytes.subarray(ID_BYTES), this.#mac(id))) return undefined
    return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }

  #mac(id: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update('unsubscribe link ').update(id).digest().subarray(0, MAC_BYTES)
  }
}
