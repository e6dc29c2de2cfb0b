import { hash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { BlobNotFoundError } from '@restante/blobs'
import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { CALENDAR_FILE_TYPES, CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { deletedAmong } from '@restante/tenancy'
import { attachedFile, type FileSource } from '../files/stored-file.ts'
import type { MessageRow, StoredAttachment } from '../mailbox/rows/rows.ts'
import { store } from '../mailbox/store.ts'

type Request = InternalRequestOf<'mail-ingest.getCalendarFiles'>
type Response = InternalResponseOf<'mail-ingest.getCalendarFiles'>

/** A mail with more has not one calendar file, whatever is in them (calendar 15). */
const MOST_FILES = 8

/**
 * The calendar files of a received mail, with its author and labels. A mail of another installation vouches for its author when
 * that address was authenticated; one that was handed over inside has the author that mail-send wrote, which is the inbox that
 * sent it.
 */
export async function calendarFiles(source: FileSource, { inbox_uid, message_id }: Request): Promise<Response> {
  const [message, deleted] = await Promise.all([
    store.message(source.db, inbox_uid, message_id),
    deletedAmong(source.db, [inbox_uid]),
  ])
  if (message?.direction !== 'received' || deleted.size > 0) return {}
  const attached = message.attachments.filter(isCalendar)
  const readable = attached.filter(({ size }) => size <= CALENDAR_LIMITS.file)
  const files = await contentsOf(source, message, readable.slice(0, MOST_FILES))
  if (files === undefined) return {}
  const { organization_id, pod_id, labels, sender_address, authentication, created_at, calendar_event_id } = message
  const verdict = authentication?.verdict
  return {
    mail: {
      organization_id,
      pod_id,
      labels: [...labels],
      ...(sender_address !== '' && { from: sender_address }),
      authenticated: sender_address !== '' && (verdict === 'pass' || verdict === 'internal'),
      received_at: created_at.toISOString(),
      files: distinct(files).map((content) => ({ content: content.toString('base64') })),
      too_large: readable.length < attached.length || readable.length > MOST_FILES,
      applied: calendar_event_id !== null,
    },
  }
}

function isCalendar({ content_type }: StoredAttachment): boolean {
  return CALENDAR_FILE_TYPES.includes(content_type.toLowerCase())
}

/** @returns undefined when the message was deleted in the meantime. */
async function contentsOf(
  { bytes }: FileSource,
  { blob }: MessageRow,
  attachments: readonly StoredAttachment[],
): Promise<Buffer[] | undefined> {
  const contents: Buffer[] = []
  try {
    for (const attachment of attachments)
      contents.push(await buffer(await attachedFile(bytes, blob, attachment).open()))
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined
    throw error
  }
  return contents
}

/** Programs send the same file as a body and as an attachment, where line ends may have been changed on the way. */
function distinct(files: readonly Buffer[]): Buffer[] {
  const keyOf = (file: Buffer) => hash('sha256', file.toString('latin1').replaceAll(/\r\n?/g, '\n').trimEnd(), 'hex')
  return [...new Map(files.map((file) => [keyOf(file), file])).values()]
}
