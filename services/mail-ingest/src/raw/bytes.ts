import { Readable } from 'node:stream'
import { BlobNotFoundError, type BlobRange, type BlobStore } from '@restante/blobs'
import { Batcher } from '@restante/service/concurrency'
import { type Database, type Queryable, sql } from '@restante/service/database'
import { UpstreamError } from '@restante/service/errors'
import { LRUCache } from 'lru-cache'
import { rawMails } from './store.ts'

/**
 * Up to this size, the bytes of a mail are stored in its row of `raw_mails`: they become durable with the commit that
 * records the mail. A file costs a write, a rename and two syncs of its own.
 */
export const ROW_BYTES = 32 * 1024

const IN_ROW = 'row/'

/** The name of bytes that are stored in their row. */
export function rowNameOf(id: string): string {
  return IN_ROW + id
}

/** Whether bytes are stored in their row, by their name. */
export function isInRow(name: string): boolean {
  return name.startsWith(IN_ROW)
}

const CONTENT = sql<{ blob: string; content: Buffer | null }, [blobs: readonly string[]]>(
  'select blob, content from raw_mails where blob = any($1)',
)

/** Most mails that are read in one statement. */
const READ_TOGETHER = 32
/** Deletions in the blob store at the same time. */
const DELETED_TOGETHER = 50
/** Bytes of arrived mails that are kept for the pipeline of this process. */
const ARRIVED_BYTES = 4 * 1024 * 1024

/** The bytes of raw mails, wherever they are stored. */
export class RawMailBytes {
  readonly #blobs: BlobStore
  readonly #rows: Batcher<string, Buffer | undefined>
  readonly #arrived = new LRUCache<string, Buffer>({
    maxSize: ARRIVED_BYTES,
    sizeCalculation: (bytes, name) => bytes.length + name.length,
  })

  constructor({ db, blobs }: { db: Database; blobs: BlobStore }) {
    this.#blobs = blobs
    this.#rows = new Batcher({
      maxItems: READ_TOGETHER,
      concurrency: 2,
      work: async (names) => {
        const found = new Map((await db.query(CONTENT, names)).map(({ blob, content }) => [blob, content]))
        return names.map((name) => found.get(name) ?? undefined)
      },
    })
  }

  /**
   * Keeps the bytes of a mail that was just stored in its row, until they are read: the pipeline of this process usually
   * needs them within milliseconds.
   */
  keep(name: string, bytes: Buffer): void {
    this.#arrived.set(name, bytes)
  }

  /**
   * The whole mail. It fits into memory: larger mails are not accepted.
   * @throws UpstreamError when they cannot be read now, which says nothing about the mail; BlobNotFoundError when they
   * do not exist.
   */
  async buffer(name: string): Promise<Buffer> {
    return isInRow(name) ? this.#fromRow(name) : readBlob(this.#blobs, name)
  }

  /** A part of the mail, or all of it, as a stream. @throws BlobNotFoundError */
  async get(name: string, range: BlobRange = {}): Promise<Readable> {
    if (!isInRow(name)) return this.#blobs.get(name, range)
    const bytes = await this.#fromRow(name)
    return Readable.from([bytes.subarray(range.start ?? 0, range.end)])
  }

  /**
   * Deletes bytes and then their rows: a crash in between leaves rows that name what is deleted again.
   * @param tx holds the locks of the rows.
   */
  async delete(tx: Queryable, names: readonly string[]): Promise<void> {
    const inStore = names.filter((name) => !isInRow(name))
    for (let from = 0; from < inStore.length; from += DELETED_TOGETHER) {
      await Promise.all(inStore.slice(from, from + DELETED_TOGETHER).map((name) => this.#blobs.delete(name)))
    }
    await rawMails.forget(tx, names)
  }

  async #fromRow(name: string): Promise<Buffer> {
    const arrived = this.#arrived.get(name)
    this.#arrived.delete(name)
    const bytes = arrived ?? (await this.#rows.add(name))
    if (bytes === undefined) throw new BlobNotFoundError(name)
    return bytes
  }
}

/** A whole blob. @throws UpstreamError when the store fails; BlobNotFoundError when the blob does not exist. */
export async function readBlob(blobs: BlobStore, name: string): Promise<Buffer> {
  try {
    return await blobs.buffer(name)
  } catch (error) {
    if (error instanceof BlobNotFoundError) throw error
    throw new UpstreamError('the blob store cannot be read', { cause: error })
  }
}

/** Buffers of this size have memory of their own, which can be freed at once. */
const LARGE = 1024 * 1024

/**
 * Runs work with the bytes of a raw mail, and frees large ones at its end. Left to the garbage collector, they would be
 * in memory together with those of the next mails.
 */
export async function withRawMail<T>(raw: Buffer, work: (raw: Buffer) => Promise<T>): Promise<T> {
  try {
    return await work(raw)
  } finally {
    if (raw.length >= LARGE && 'transfer' in raw.buffer) raw.buffer.transfer(0)
  }
}
