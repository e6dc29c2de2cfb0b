import { createHmac, timingSafeEqual } from 'node:crypto'

const ID_BYTES = 16
/** 128 bits: unlike guesses at an address by SMTP, those at a link are cheap. */
const MAC_BYTES = 16

/** The form of every token, for finding them in a text. */
export const TOKEN_PATTERN = '[A-Za-z0-9_-]{43}'

/** Ids in links: a token is the id and its MAC, in base64url. Only this installation can make one. */
export class SignedId {
  readonly #secret: string
  readonly #purpose: string

  /** @param purpose part of what is signed, so that a token of one kind is none of another. */
  constructor(secret: string, purpose: string) {
    this.#secret = secret
    this.#purpose = purpose
  }

  /** @param id a UUID. */
  tokenFor(id: string): string {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
    return Buffer.concat([bytes, this.#mac(bytes)]).toString('base64url')
  }

  /** @returns the id of a token; undefined when it is altered or forged. */
  idOf(token: string): string | undefined {
    const bytes = Buffer.from(token, 'base64url')
    // Compared as text, too: base64url has several spellings of the same bytes, and only one is accepted.
    if (bytes.length !== ID_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
    const id = bytes.subarray(0, ID_BYTES)
    if (!timingSafeEqual(bytes.subarray(ID_BYTES), this.#mac(id))) return undefined
    return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }

  #mac(id: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(`${this.#purpose} `).update(id).digest().subarray(0, MAC_BYTES)
  }
}
