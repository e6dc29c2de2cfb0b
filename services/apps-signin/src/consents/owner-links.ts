import { createHash, createHmac, hkdfSync } from 'node:crypto'

const TOKEN = /^[\w-]{43}$/

/**
 * The links that owners are mailed. A token follows from the id of its mail, so that a mail whose sending was interrupted
 * is repeated with the same text, and only the hash of the token is stored.
 */
export class OwnerLinks {
  readonly #authBase: string
  readonly #key: Buffer

  constructor(options: { readonly authBase: string; readonly secret: string }) {
    this.#authBase = options.authBase
    this.#key = Buffer.from(hkdfSync('sha256', options.secret, '', 'restante links of owners', 32))
  }

  /** The link of a mail. */
  linkOf(mailId: string): string {
    return `${this.#authBase}/owner/${this.#tokenOf(mailId)}`
  }

  /** What is stored of the token of a mail. */
  hashOf(mailId: string): Buffer {
    return hashOfToken(this.#tokenOf(mailId))
  }

  #tokenOf(mailId: string): string {
    return createHmac('sha256', this.#key).update(mailId).digest('base64url')
  }
}

/** Whether a text can be a token of a link at all. */
export function isOwnerToken(text: unknown): text is string {
  return typeof text === 'string' && TOKEN.test(text)
}

/** SHA-256 of a token. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
