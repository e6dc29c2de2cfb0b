import { SignedId } from './signed-id.ts'

export interface UnsubscribeLinkOptions {
  /** The public URL of this installation. */
  readonly publicUrl: string
  readonly secret: string
}

/**
 * The link of a List-Unsubscribe field (RFC 8058): `<public URL>/u/<token>`. The token names the delivery, so only the
 * recipient, and whoever the mail was forwarded to, has it.
 */
export class UnsubscribeLink {
  readonly #base: string
  readonly #ids: SignedId

  constructor({ publicUrl, secret }: UnsubscribeLinkOptions) {
    // In the form of a header field: ASCII, whatever the host is written in.
    this.#base = `${new URL(publicUrl).href.replace(/\/+$/, '')}/u/`
    this.#ids = new SignedId(secret, 'unsubscribe link')
  }

  /** @param deliveryId a UUID. */
  linkFor(deliveryId: string): string {
    return this.#base + this.#ids.tokenFor(deliveryId)
  }

  /** @returns the delivery that a token identifies; undefined when it is altered or forged. */
  deliveryOf(token: string): string | undefined {
    return this.#ids.idOf(token)
  }
}
