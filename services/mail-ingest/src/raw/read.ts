import { BlobNotFound, type BlobStore } from '@restante/blobs'
import { UpstreamError } from '@restante/service'

/**
 * The bytes of a raw mail, which was small enough to be accepted.
 * @throws UpstreamError when the store fails, which says nothing about the mail; BlobNotFound when it has no such bytes.
 */
export async function readRawMail(blobs: BlobStore, blob: string): Promise<Buffer> {
  try {
    return await blobs.buffer(blob)
  } catch (error) {
    if (error instanceof BlobNotFound) throw error
    throw new UpstreamError('the blob store cannot be read', { cause: error })
  }
}
