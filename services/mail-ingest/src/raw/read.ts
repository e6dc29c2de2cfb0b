import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import { UpstreamError } from '@restante/service/errors'

/**
 * The bytes of a raw mail. They fit into memory: larger mails are not accepted.
 * @throws UpstreamError when the store fails, which says nothing about the mail; BlobNotFoundError when the blob does
 * not exist.
 */
export async function readRawMail(blobs: BlobStore, blob: string): Promise<Buffer> {
  try {
    return await blobs.buffer(blob)
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
