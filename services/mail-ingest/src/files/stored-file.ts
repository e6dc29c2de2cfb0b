import { Readable } from 'node:stream'
import type { Attachment } from '@restante/contracts/resources'
import { decodeTransferStream } from '@restante/mime'
import { type Queryable, sql } from '@restante/service/database'
import { attachmentTexts } from '../attachment-texts/store.ts'
import { attachmentDocument } from '../mailbox/rows/documents.ts'
import type { MessageRow, StoredAttachment } from '../mailbox/rows/rows.ts'
import type { RawMailBytes } from '../raw/bytes.ts'
import type { LinkTarget } from './links.ts'

/** A file of the mailbox: what a message says of it, and its bytes. */
export interface StoredFile {
  readonly kind: 'raw' | 'attachment' | 'text'
  readonly about: Omit<Attachment, 'attachment_id'> & { readonly content_type: string }
  /**
   * Opens its bytes: only pieces of them are in memory, whatever their size. The caller must read or destroy the stream.
   * @throws BlobNotFoundError when it was deleted in the meantime.
   */
  open(): Promise<Readable>
}

/** The name of a file that its message does not name. */
export const NAMELESS = 'attachment'

export interface FileSource {
  readonly db: Queryable
  readonly bytes: RawMailBytes
}

type FileRow = Pick<MessageRow, 'blob' | 'trace' | 'size' | 'attachments'>

const FILE = sql<FileRow, [id: string]>(`
select blob, trace, size, attachments from messages
 where id = $1 and not exists (select from deleted_scopes where deleted_scopes.id = messages.inbox_uid)`)

/** What a link leads to, unless it is deleted. */
export async function findFile(
  source: FileSource,
  { message: messageUid, attachment: attachmentId, as }: LinkTarget,
): Promise<StoredFile | undefined> {
  const { db, bytes } = source
  const [row] = await db.query(FILE, messageUid)
  if (!row) return undefined
  if (attachmentId === undefined) return rawFile(bytes, row)
  const attachment = row.attachments.find(({ attachment_id }) => attachment_id === attachmentId)
  if (!attachment) return undefined
  const file = attachedFile(bytes, row.blob, attachment)
  return as === 'text' ? textFile(db, messageUid, attachmentId, file) : file
}

/** An attachment of a message. */
export function attachedFile(bytes: RawMailBytes, blob: string, attachment: StoredAttachment): StoredFile {
  const { start, end, encoding } = attachment
  const { attachment_id: _, ...about } = attachmentDocument(attachment)
  return {
    kind: 'attachment',
    about: { ...about, content_type: attachment.content_type },
    open: async () => {
      const part = await bytes.get(blob, { start, end })
      return readFrom(part, decodeTransferStream(part, encoding))
    },
  }
}

function rawFile(bytes: RawMailBytes, { blob, trace, size }: FileRow): StoredFile {
  return {
    kind: 'raw',
    about: { filename: 'message.eml', content_type: 'message/rfc822', size },
    open: async () => {
      const all = await bytes.get(blob)
      return readFrom(all, joined(trace, all))
    },
  }
}

async function textFile(
  db: Queryable,
  messageUid: string,
  attachmentId: string,
  { about }: StoredFile,
): Promise<StoredFile | undefined> {
  const text = await attachmentTexts.text(db, messageUid, attachmentId)
  if (text === undefined) return undefined
  const body = Buffer.from(text)
  return {
    kind: 'text',
    about: {
      filename: `${about.filename ?? NAMELESS}.txt`,
      content_type: 'text/plain; charset=utf-8',
      size: body.length,
    },
    open: async () => Readable.from([body]),
  }
}

/** A stream made from stored bytes. Closing it closes their stream, even if nothing was read. */
function readFrom(bytes: Readable, content: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(content, { objectMode: false }).once('close', () => bytes.destroy())
}

/** The raw message: the lines that were added on arrival, then the received bytes. */
async function* joined(trace: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (trace !== '') yield Buffer.from(trace)
  yield* bytes
}
