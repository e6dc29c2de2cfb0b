import { Readable } from 'node:stream'
import type { BlobStore } from '@restante/blobs'
import type { BlobReference } from '@restante/contracts'
import type { SecretBox } from '@restante/service'
import { outboundBlob, type SendRecord } from './store.ts'

export interface OutboundContentOptions {
  readonly blobs: BlobStore
  /** Seals mail of the installation itself. */
  readonly box: SecretBox
}

/**
 * The bytes of messages on their way out. Mail of the installation itself holds verification codes, and lies sealed in
 * the blob store until it is handed over: who can read the store, or a backup of it, reads no code.
 */
export class OutboundContent {
  readonly #options: OutboundContentOptions

  constructor(options: OutboundContentOptions) {
    this.#options = options
  }

  /** Stores mail of the installation itself. The size is that of the mail, which servers are told. */
  async seal(sendId: string, raw: Buffer): Promise<BlobReference> {
    const { blobs, box } = this.#options
    const name = outboundBlob(sendId)
    const { sha256 } = await blobs.put(name, box.seal(sendId, raw.toString('latin1')))
    return { name, size: raw.length, sha256 }
  }

  /** The message as it goes over the wire. @throws BlobNotFoundError; DecryptionError when it was sealed with another key. */
  async read({ id, origin }: Pick<SendRecord, 'id' | 'origin'>): Promise<Readable> {
    const { blobs, box } = this.#options
    if (origin.kind === 'inbox') return blobs.get(outboundBlob(id))
    const opened = box.open(id, await blobs.buffer(outboundBlob(id)))
    return Readable.from([Buffer.from(opened, 'latin1')], { objectMode: false })
  }
}
