import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { StoredBlob } from './store.ts'

/** Counts and hashes (SHA-256) bytes as they pass through. */
export class Digest {
  readonly #hash = createHash('sha256')
  #size = 0

  /** Yields what `content` yields. */
  async *of(content: Readable | Uint8Array): AsyncGenerator<Uint8Array, void> {
    const chunks: AsyncIterable<Uint8Array> | Uint8Array[] = content instanceof Uint8Array ? [content] : content
    for await (const chunk of chunks) {
      this.#hash.update(chunk)
      this.#size += chunk.byteLength
      yield chunk
    }
  }

  /** To be called once, after the end. */
  result(): StoredBlob {
    return { size: this.#size, sha256: this.#hash.digest('hex') }
  }
}
