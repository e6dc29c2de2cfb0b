import { BlobNotFound, type BlobStore } from '@restante/blobs'
import type { BinaryResponse } from '@restante/contracts'
import { readAttachment } from '@restante/mime'
import { ApiError, type Handlers, notFound, sql } from '@restante/service'
import type { Db } from '../database.ts'
import type { ByteBudget } from '../housekeeping/byte-budget.ts'
import type { MessageRow } from '../mailbox/rows.ts'
import { attachmentHeaders } from './disposition.ts'
import type { DownloadLinks } from './links.ts'

type File = Pick<MessageRow, 'blob' | 'trace' | 'size' | 'attachments'>

const FILE = sql<File, [id: string]>(`
select blob, trace, size, attachments from messages
 where id = $1 and not exists (select from deleted_inboxes where deleted_inboxes.inbox_uid = messages.inbox_uid)`)

export interface FileRoutesOptions {
  readonly db: Db
  readonly blobs: BlobStore
  readonly links: DownloadLinks
  /** For raw mails, which are in memory while an attachment is taken out of them. */
  readonly memory: ByteBudget
}

/** What signed links open (mail 6.6, 16). */
export function fileRoutes(options: FileRoutesOptions): Pick<Handlers<'mail-ingest'>, 'files.download'> {
  return {
    'files.download': async ({ params }) => {
      const claims = options.links.open(params.token)
      if (!claims) {
        const fix = 'Ask for the message or attachment again to get a fresh link.'
        throw new ApiError('forbidden', { message: 'The link has expired or was altered', fix })
      }
      try {
        return await download(options, claims.message, claims.attachment)
      } catch (error) {
        // Deleted while it was being opened.
        if (error instanceof BlobNotFound) throw notFound('File')
        throw error
      }
    },
  }
}

async function download(
  { db, blobs, memory }: FileRoutesOptions,
  messageUid: string,
  attachmentId: string | undefined,
): Promise<BinaryResponse> {
  const [file] = await db.query(FILE, messageUid)
  if (!file) throw notFound('File')
  if (attachmentId === undefined) {
    const bytes = await blobs.get(file.blob)
    return { headers: attachmentHeaders('message/rfc822', 'message.eml', file.size), body: joined(file.trace, bytes) }
  }
  const listed = file.attachments.find((attachment) => attachment.attachment_id === attachmentId)
  if (!listed) throw notFound('File')
  const read = async () => readAttachment(await blobs.buffer(file.blob), listed.part)
  const found = await memory.within(file.size, read)
  if (!found) throw notFound('File')
  const headers = attachmentHeaders(listed.content_type, listed.filename ?? 'attachment', found.content.length)
  return { headers, body: once(found.content) }
}

/** The raw message: the lines that were added on arrival, then the bytes as they came. */
async function* joined(trace: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (trace !== '') yield Buffer.from(trace)
  yield* bytes
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
