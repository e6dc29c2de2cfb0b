import { Readable } from 'node:stream'
import type { BlobStore } from '@restante/blobs'
import type { BlobReference } from '@restante/contracts/schemas'
import {
  type DkimKeys,
  type UnsubscribeAddress,
  type UnsubscribeLink,
  unsubscribeFields,
  withLeadingFields,
} from '@restante/mime'
import type { SecretBox } from '@restante/service/secrets'
import { outboundBlob, type SendRecord } from './sends.ts'

export interface OutboundContentOptions {
  readonly blobs: BlobStore
  /** Seals the installation's own mail. */
  readonly box: SecretBox
  /** Of the installation, whose domains they all sign for. */
  readonly dkim: DkimKeys | undefined
  readonly unsubscribe: { readonly link: UnsubscribeLink; readonly address: UnsubscribeAddress }
}

/** The bytes that one recipient gets. */
export interface DeliveredContent {
  readonly content: Readable
  readonly size: number
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

  /**
   * The message as the recipient of a delivery gets it: with the fields of that delivery in front, which the stored
   * message, and so the copy in the mailbox, does not have.
   * @throws BlobNotFoundError; DecryptionError when it was sealed with another key; SigningError.
   */
  async read(
    send: Pick<SendRecord, 'id' | 'origin' | 'size' | 'unsubscribable' | 'messageId'>,
    deliveryId: string,
  ): Promise<DeliveredContent> {
    const { blobs, box, dkim } = this.#options
    const { id, origin, size, messageId } = send
    if (origin.kind === 'system') {
      const opened = box.open(id, await blobs.buffer(outboundBlob(id)))
      return { content: Readable.from([Buffer.from(opened, 'latin1')], { objectMode: false }), size }
    }
    const stored = await blobs.get(outboundBlob(id))
    const fields = this.fieldsOf(send, deliveryId)
    if (fields === '') return { content: stored, size }
    // Such fields are for mail from domains of the installation, and a message id ends with the domain of its author.
    const domain = messageId.slice(messageId.lastIndexOf('@') + 1, -1)
    const { content, difference } = await withLeadingFields(stored, fields, dkim && { ...dkim, domain })
    return { content, size: size + difference }
  }

  /** The header fields, each with its line break, that only the recipient of this delivery gets. */
  fieldsOf({ unsubscribable }: Pick<SendRecord, 'unsubscribable'>, deliveryId: string): string {
    return unsubscribable ? unsubscribeFields(this.#options.unsubscribe, deliveryId) : ''
  }
}
