import { createHash } from 'node:crypto'

/**
 * The fingerprint of a mail's content: its subject, its reply addresses, and every decoded part. Copies have the same
 * fingerprint whatever their transfer encoding and route; a mail with any other content has another.
 */
export class MailDigest {
  readonly #digest = createHash('sha256')

  /**
   * Adds one element of the content. Each is digested separately, so that the end of one cannot pass for the beginning
   * of the next.
   * @param kind what it is, without NUL
   * @returns its size in bytes
   */
  add(kind: string, content: string | Iterable<Uint8Array>): number {
    const digest = createHash('sha256').update(`${kind}\0`)
    let size = 0
    for (const piece of typeof content === 'string' ? [Buffer.from(content)] : content) {
      digest.update(piece)
      size += piece.length
    }
    this.#digest.update(digest.digest())
    return size
  }

  /** The digest in hex. Nothing more can be added. */
  end(): string {
    return this.#digest.digest('hex')
  }
}
