import type { Readable } from 'node:stream'

/** What was stored durably. */
export interface StoredBlob {
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

export interface PutOptions {
  /**
   * Kept by stores that can show it to an operator who inspects the bucket; the authoritative type is in the owner's
   * row.
   */
  readonly contentType?: string
}

/** Bytes `start` (inclusive) to `end` (exclusive), as in `Buffer.subarray`; both are clamped to the blob. */
export interface BlobRange {
  readonly start?: number
  readonly end?: number
}

/** A blob, as a listing names it. */
export interface ListedBlob {
  readonly name: string
  readonly modifiedAt: Date
}

/** A page of a listing. */
export interface BlobPage {
  readonly blobs: readonly ListedBlob[]
  /** For the next page; absent on the last one. */
  readonly next?: string
}

/**
 * Bytes under names like `mail/<inbox_uid>/<uuid>`. A blob is written whole or not at all, and never changes in place:
 * a put under an existing name replaces it, and a reader of the old one reads it to the end.
 *
 * It is also a component of a process (`start`, `ready`, `stop`). Failures other than the two named here come from the
 * disk or the bucket and are worth retrying.
 */
export interface BlobStore {
  readonly name: string

  /**
   * Stores everything that `content` yields, with bounded memory. When it resolves, the blob survives a loss of power;
   * when it rejects, or the process dies before, there is no blob. An error of `content` is rethrown unchanged.
   */
  put(name: string, content: Readable | Uint8Array, options?: PutOptions): Promise<StoredBlob>

  /**
   * Opens a blob, or a range of it, for reading. The caller must read or destroy the stream. @throws BlobNotFoundError
   */
  get(name: string, range?: BlobRange): Promise<Readable>

  /** Reads a whole blob, whose size the caller knows to be bounded. @throws BlobNotFoundError */
  buffer(name: string): Promise<Buffer>

  /** Copies `from` to `to` durably, without moving the bytes through this process. @throws BlobNotFoundError */
  copy(from: string, to: string): Promise<void>

  /** Deletes a blob; a missing one counts as deleted. */
  delete(name: string): Promise<void>

  /** Deletes everything below `prefix`, which ends with `/`. A blob put concurrently may stay or be deleted. */
  deletePrefix(prefix: string): Promise<void>

  /** @returns the size in bytes, or undefined when there is no such blob. */
  size(name: string): Promise<number | undefined>

  exists(name: string): Promise<boolean>

  /**
   * Lists what is below `prefix`, which ends with `/`, in an order of the store's own, with bounded memory. A blob that is
   * put or deleted during a listing may be in it or not.
   * @param after the `next` of the previous page.
   */
  list(prefix: string, after: string | undefined, limit: number): Promise<BlobPage>

  start(): Promise<void>
  ready(): Promise<void>
  stop(): Promise<void>
}
