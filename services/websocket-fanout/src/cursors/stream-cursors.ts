import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A place in the log. */
export interface Place {
  readonly position: bigint
  /** Of a poll: tells clients apart that have read equally far. */
  readonly reader?: string
}

/**
 * Cursors of the stream: a position of the log, sealed for the scope of a key. A cursor can neither be read (positions
 * count the events of all organizations), nor forged, nor used in another scope.
 *
 * Every event of every resuming stream carries one, far more than the 2^32 for which random nonces are good with one
 * key. The nonce is therefore derived from what is sealed (as in RFC 5297): the same place in the same scope has the
 * same cursor.
 */
export class StreamCursors {
  readonly #key: Buffer
  readonly #nonceKey: Buffer

  /** @param secret the cursor secret of the service; all its replicas share it. */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'restante stream cursors', 32))
    this.#nonceKey = Buffer.from(hkdfSync('sha256', secret, '', 'restante stream cursor nonces', 32))
  }

  /** @param scope what the cursor is valid for. */
  seal(scope: string, { position, reader }: Place): string {
    const text = reader === undefined ? String(position) : `${position}.${reader}`
    const nonce = createHmac('sha256', this.#nonceKey).update(`${scope}\n${text}`).digest().subarray(0, NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(scope))
    return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  /** @returns undefined for a cursor that was altered, or issued for another scope. */
  open(scope: string, cursor: string): Place | undefined {
    const bytes = Buffer.from(cursor, 'base64url')
    // Decoding ignores characters that are not base64; only the issued spelling is valid.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(scope))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)).toString()
    try {
      decipher.final()
    } catch {
      return undefined
    }
    const [position = '', reader] = text.split('.')
    return { position: BigInt(position), ...(reader !== undefined && { reader }) }
  }
}
