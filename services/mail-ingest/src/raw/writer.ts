import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { BlobStore } from '@restante/blobs'
import { ROW_BYTES, readBlob, rowNameOf } from './bytes.ts'
import { blobOf, type ReservedNames } from './reserved-names.ts'

/** The bytes of a mail were refused, or broke off, before their end: nothing was stored. */
export class UnusableContentError extends Error {}

/** The bytes of an arriving mail: durable in the blob store, or `content` for the transaction that records the mail. */
export interface WrittenMail {
  /** The id under which operators find the bytes. */
  readonly id: string
  readonly blob: string
  readonly size: number
  readonly content?: Buffer
}

/** Stores the bytes of arriving mail: small ones in memory for their row, larger ones durably in the blob store. */
export class RawMailWriter {
  readonly #names: ReservedNames
  readonly #blobs: BlobStore

  constructor({ names, blobs }: { names: ReservedNames; blobs: BlobStore }) {
    this.#names = names
    this.#blobs = blobs
  }

  /**
   * @param content may throw UnusableContentError, and nothing is stored then. After another failure a reservation
   * remains, which the sweeper removes.
   */
  async write(content: AsyncIterable<Buffer>): Promise<WrittenMail> {
    const chunks = content[Symbol.asyncIterator]()
    const { bytes: start, ended } = await readStart(chunks)
    if (ended) return inRow(start)
    try {
      return await this.#inBlobStore((blob) => {
        const all = Readable.from(following(start, chunks), { objectMode: false })
        return this.#blobs.put(blob, all)
      })
    } finally {
      // After a failure somebody else reads the rest. Not awaited: a piece that is being read may take its time.
      chunks.return?.().catch(() => {})
    }
  }

  /** Takes over a mail that is in the blob store under another name. */
  copy(from: { readonly name: string; readonly size: number }): Promise<WrittenMail> {
    return from.size <= ROW_BYTES ? this.#copyToRow(from.name) : this.#copyInBlobStore(from)
  }

  async #copyToRow(name: string): Promise<WrittenMail> {
    return inRow(await readBlob(this.#blobs, name))
  }

  #copyInBlobStore({ name, size }: { readonly name: string; readonly size: number }): Promise<WrittenMail> {
    return this.#inBlobStore(async (blob) => {
      await this.#blobs.copy(name, blob)
      return { size }
    })
  }

  async #inBlobStore(write: (blob: string) => Promise<{ readonly size: number }>): Promise<WrittenMail> {
    const name = await this.#names.take()
    const blob = blobOf(name.id)
    try {
      const { size } = await write(blob)
      return { id: name.id, blob, size }
    } catch (error) {
      // Nothing was written, so another mail may get the name.
      if (error instanceof UnusableContentError) this.#names.giveBack(name)
      throw error
    }
  }
}

function inRow(content: Buffer): WrittenMail {
  const id = randomUUID()
  return { id, blob: rowNameOf(id), size: content.length, content }
}

/** Reads until the end, or until the mail is too large for a row. */
async function readStart(chunks: AsyncIterator<Buffer>): Promise<{ bytes: Buffer; ended: boolean }> {
  const read: Buffer[] = []
  for (let size = 0; size <= ROW_BYTES; ) {
    const { value, done } = await chunks.next()
    if (done === true) return { bytes: Buffer.concat(read), ended: true }
    read.push(value)
    size += value.length
  }
  return { bytes: Buffer.concat(read), ended: false }
}

async function* following(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  yield start
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
