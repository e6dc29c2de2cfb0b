import { Readable } from 'node:stream'
import type { BlobStore } from '@restante/blobs'
import type { BlobReference } from '@restante/contracts/schemas'
import type { SecretBox } from '@restante/service/secrets'
import { outboundBlob, type SendRecord } from './sends.ts'

export interface OutboundContentOptions {
  readonly blobs: BlobStore
  /** Seals the installation's own mail. */
  readonly box: SecretBox
}

/**
 * The bytes of outgoing messages. The installation's own mail contains verification codes, and is sealed in the blob
 * store until it is handed over: read access to the store, or to a backup of it, reveals no code.
 */
export class OutboundContent {
  readonly #options: OutboundContentOptions

  constructor(options: OutboundContentOptions) {
    this.#options = options
  }

  /** Stores mail of the installation itself. The size is that of the plain mail, which is declared to servers. */
  async seal(sendId: string, raw: Buffer): Promise<BlobReference> {
    const { blobs, box } = this.#options
    const name = outboundBlob(sendId)
    const { sha256 } = await blobs.put(name, box.seal(sendId, raw.toString('latin1')))
    return { name, size: raw.length, sha256 }
  }

  /** The message as it is sent. @throws BlobNotFoundError; DecryptionError when it was sealed with another key. */
  async read({ id, origin }: Pick<SendRecord, 'id' | 'origin'>): Promise<Readable> {
    const { blobs, box } = this.#options
    if (origin.kind === 'inbox') return blobs.get(outboundBlob(id))
    const opened = box.open(id, await blobs.buffer(outboundBlob(id)))
    return Readable.from([Buffer.from(opened, 'latin1')], { objectMode: false })
  }
}
