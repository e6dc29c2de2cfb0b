import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The sealed text was altered, or sealed with another key, purpose or context. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
}

/**
 * Authenticated encryption (AES-256-GCM) with a key from the environment. Sealed text can be read and produced only
 * with the same secret, purpose and context; nonces are random, so one key is good for 2^32 seals.
 */
export class SecretBox {
  readonly #key: Buffer

  /** @param purpose separates uses of one secret: `page tokens`, `webhook secrets`. */
  constructor(secret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', `restante ${purpose}`, 32))
  }

  /** @param context bound to the text and required to open it, such as the id of the row that holds it. Not stored. */
  seal(context: string, text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  /** @throws DecryptionError */
  open(context: string, sealed: Uint8Array): string {
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString()
    } catch (cause) {
      throw new DecryptionError('The sealed text is not valid', { cause })
    }
  }
}
