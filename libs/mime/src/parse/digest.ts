import { createHash } from 'node:crypto'

/**
 * The fingerprint of what a mail says: its subject, where answers go, and every decoded part. Copies have the same one
 * whatever transfer encoding they were given and which way they took; a mail that says anything else has another.
 */
export class MailDigest {
  readonly #digest = createHash('sha256')

  /**
   * Adds one thing that the mail says. Each is digested by itself, so that the end of one cannot pass for the next.
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

  /** In hex. No more can be added. */
  end(): string {
    return this.#digest.digest('hex')
  }
}
