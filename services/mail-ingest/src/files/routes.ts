import { Readable } from 'node:stream'
import { BlobNotFoundError } from '@restante/blobs'
import type { BinaryResponse } from '@restante/contracts/operations'
import { decodeTransferStream } from '@restante/mime'
import { type Database, sql } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { Handlers } from '@restante/service/http'
import { attachmentTexts } from '../attachment-texts/store.ts'
import type { MessageRow } from '../mailbox/rows.ts'
import type { RawMailBytes } from '../raw/bytes.ts'
import { attachmentHeaders, textHeaders } from './disposition.ts'
import type { DownloadLinks, LinkClaims } from './links.ts'

type File = Pick<MessageRow, 'blob' | 'trace' | 'size' | 'attachments'>

const FILE = sql<File, [id: string]>(`
select blob, trace, size, attachments from messages
 where id = $1 and not exists (select from deleted_scopes where deleted_scopes.id = messages.inbox_uid)`)

export interface FileRoutesOptions {
  readonly db: Database
  readonly bytes: RawMailBytes
  readonly links: DownloadLinks
}

/** Downloads by signed links (mail 6.6, 16). */
export function fileRoutes(options: FileRoutesOptions): Pick<Handlers<'mail-ingest'>, 'files.download'> {
  return {
    'files.download': async ({ params }) => {
      const claims = options.links.open(params.token)
      if (!claims) {
        const fix = 'Ask for the message or attachment again to get a fresh link.'
        throw new ApiError('forbidden', { message: 'The link has expired or was altered', fix })
      }
      try {
        return await download(options, claims)
      } catch (error) {
        // The file was deleted after its row had been read.
        if (error instanceof BlobNotFoundError) throw notFound('File')
        throw error
      }
    },
  }
}

/** Streams the file at the pace of the client, so that only pieces of it are in memory, whatever its size. */
async function download(
  { db, bytes }: FileRoutesOptions,
  { message: messageUid, attachment: attachmentId, as }: LinkClaims,
): Promise<BinaryResponse> {
  const [file] = await db.query(FILE, messageUid)
  if (!file) throw notFound('File')
  if (attachmentId === undefined) {
    const all = await bytes.get(file.blob)
    const headers = attachmentHeaders('message/rfc822', 'message.eml', file.size)
    return { headers, body: readFrom(all, joined(file.trace, all)) }
  }
  const listed = file.attachments.find((attachment) => attachment.attachment_id === attachmentId)
  if (!listed) throw notFound('File')
  const { content_type, filename = 'attachment', size, start, end, encoding } = listed
  if (as === 'text') {
    const text = await attachmentTexts.text(db, messageUid, attachmentId)
    if (text === undefined) throw notFound('File')
    const body = Buffer.from(text)
    return { headers: textHeaders(`${filename}.txt`, body.length), body: Readable.from([body]) }
  }
  const part = await bytes.get(file.blob, { start, end })
  const headers = attachmentHeaders(content_type, filename, size)
  return { headers, body: readFrom(part, decodeTransferStream(part, encoding)) }
}

/** A stream made from stored bytes. Closing it closes their stream, even if nothing was read. */
function readFrom(bytes: Readable, content: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(content).once('close', () => bytes.destroy())
}

/** The raw message: the lines that were added on arrival, then the received bytes. */
async function* joined(trace: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (trace !== '') yield Buffer.from(trace)
  yield* bytes
}
