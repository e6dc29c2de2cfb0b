import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { invalid } from './api-error.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Page tokens: the position in a list, sealed (AES-256-GCM) together with the list, scope, filters and direction they
 * belong to, so that a token can neither be read, forged, nor used with another list (identity 1.4).
 */
export class Cursors {
  readonly #key: Buffer

  /** @param secret the installation's cursor secret; all replicas of a service share it. */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'restante page tokens', 32))
  }

  /** @param context everything that must be the same on the next page: operation, scope, filters, direction. */
  seal(context: unknown, position: readonly (string | number)[]): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce)
    cipher.setAAD(Buffer.from(JSON.stringify(context)))
    const sealed = Buffer.concat([cipher.update(JSON.stringify(position), 'utf8'), cipher.final()])
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** @throws ApiError 400 at `page_token` when it was not issued for this context. */
  open(context: unknown, token: string): (string | number)[] {
    try {
      const bytes = Buffer.from(token, 'base64url')
      const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(JSON.stringify(context)))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)),
        decipher.final(),
      ]).toString()
      const position: unknown = JSON.parse(text)
      if (Array.isArray(position)) return position
    } catch {
      // Undecodable, altered, or issued for another list: all the same to the caller.
    }
    throw invalid(
      ['page_token'],
      'The page token is not valid for this list. Omit it to start again from the first page.',
    )
  }
}

/** One page of a keyset list: the rows that belong to it, and the token of the next one when more remain. */
export interface Page<Row> {
  readonly items: Row[]
  readonly next_page_token: string | undefined
}

/**
 * Cuts a result of at most `limit + 1` rows into a page.
 * @param positionOf the keyset position of a row, as the next query compares it.
 */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  seal: (position: (string | number)[]) => string,
  positionOf: (row: Row) => (string | number)[],
): Page<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next_page_token: rows.length > limit && last !== undefined ? seal(positionOf(last)) : undefined }
}
