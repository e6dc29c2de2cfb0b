import { LIMITS } from '@restante/contracts/vocabulary'
import { decodeTransferStream, documentKind, KIND_BYTES } from '@restante/mime'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'
import type { RawMailBytes } from '../raw/bytes.ts'

/**
 * The bytes of an attachment. One that is no document is recognised by its first bytes, and not read any further.
 * @returns undefined when it is no document, or larger than a document may be
 * @throws BlobNotFoundError
 */
export async function fetchDocument(
  bytes: RawMailBytes,
  blob: string,
  { start, end, encoding }: StoredAttachment,
): Promise<Buffer | undefined> {
  const part = await bytes.get(blob, { start, end })
  const pieces: Buffer[] = []
  let size = 0
  let isKnown = false
  try {
    for await (const piece of decodeTransferStream(part, encoding)) {
      pieces.push(piece)
      size += piece.length
      if (size > LIMITS.document.bytes) return undefined
      if (isKnown || size < KIND_BYTES) continue
      if (documentKind(Buffer.concat(pieces)) === undefined) return undefined
      isKnown = true
    }
  } finally {
    part.destroy()
  }
  const document = Buffer.concat(pieces)
  return documentKind(document) === undefined ? undefined : document
}
