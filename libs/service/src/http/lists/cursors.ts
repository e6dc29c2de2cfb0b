import { invalid } from '../../errors/api-error.ts'
import { DecryptionError, SecretBox } from '../../secrets/secret-box.ts'

/**
 * Page tokens: the position in a list, sealed together with the list, scope, filters and direction they belong to. A
 * token can neither be read, nor forged, nor used with another list (identity 1.4).
 */
export class Cursors {
  readonly #box: SecretBox

  /** @param secret the installation's cursor secret; all replicas of a service share it. */
  constructor(secret: string) {
    this.#box = new SecretBox(secret, 'page tokens')
  }

  /** @param context everything that must be the same on the next page: operation, scope, filters, direction. */
  seal(context: unknown, position: readonly (string | number)[]): string {
    return this.#box.seal(JSON.stringify(context), JSON.stringify(position)).toString('base64url')
  }

  /** @throws ApiError 400 at `page_token` when it was not issued for this context. */
  open(context: unknown, token: string): (string | number)[] {
    try {
      const position: unknown = JSON.parse(this.#box.open(JSON.stringify(context), canonical(token)))
      if (Array.isArray(position)) return position
    } catch (error) {
      // Undecodable, altered, or issued for another list: the caller sees no difference.
      if (!(error instanceof DecryptionError)) throw error
    }
    throw invalid(
      ['page_token'],
      'The page token is not valid for this list. Omit it to start again from the first page.',
    )
  }
}

/**
 * Decoding ignores characters that are not base64, so one token could be written in many ways; only the issued spelling
 * is valid.
 */
function canonical(token: string): Buffer {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.toString('base64url') === token) return bytes
  throw new DecryptionError('The token is not spelled as it was issued')
}
