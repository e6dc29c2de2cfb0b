import { BlobNotFoundError, type BlobStore } from '@restante/blobs'
import type { CopiedFile, InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import { restrictedAmong } from '@restante/contracts/vocabulary'
import { store } from '../mailbox/store.ts'
import type { DownloadLinks } from './links.ts'
import { attachedFile, type FileSource, findFile, type StoredFile } from './stored-file.ts'

type Request = InternalRequestOf<'mail-ingest.copyFiles'>
type Response = InternalResponseOf<'mail-ingest.copyFiles'>
type Wanted = { readonly file: StoredFile; readonly blob: string }
type Refusal = Extract<Response, { refused: unknown }>

export interface FileCopierOptions extends FileSource {
  readonly blobs: BlobStore
  readonly links: DownloadLinks
}

/**
 * Copies files of the mailbox to blobs of mail-send, decoded, without holding them in memory. A copy that fails half-way
 * leaves blobs that mail-send has announced and sweeps.
 */
export async function copyFiles(options: FileCopierOptions, { source, max_bytes }: Request): Promise<Response> {
  const wanted = await ('link' in source ? linkedFile(options, source) : attachedFiles(options, source))
  if ('refused' in wanted) return wanted
  if (wanted.reduce((sum, { file }) => sum + file.about.size, 0) > max_bytes) return { refused: 'too_large' }
  const files: CopiedFile[] = []
  for (const { file, blob } of wanted) {
    const copied = await copy(options.blobs, file, blob)
    if (!copied) return { refused: 'no_attachment' }
    files.push(copied)
  }
  return { files }
}

async function linkedFile(
  options: FileCopierOptions,
  { link, blob }: Extract<Request['source'], { link: string }>,
): Promise<Wanted[] | Refusal> {
  const target = options.links.open(link)
  const file = target && (await findFile(options, target))
  return file ? [{ file, blob }] : { refused: 'no_link' }
}

async function attachedFiles(
  { db, bytes }: FileCopierOptions,
  source: Extract<Request['source'], { inbox_uid: string }>,
): Promise<Wanted[] | Refusal> {
  const message = await store.message(db, source.inbox_uid, source.message_id)
  const visible: readonly string[] = source.visible_labels
  if (!message || restrictedAmong(message.labels).some((label) => !visible.includes(label)))
    return { refused: 'no_message' }
  const wanted: Wanted[] = []
  for (const { attachment_id, blob } of source.attachments) {
    const attachment = message.attachments.find((one) => one.attachment_id === attachment_id)
    if (!attachment) return { refused: 'no_attachment' }
    wanted.push({ file: attachedFile(bytes, message.blob, attachment), blob })
  }
  return wanted
}

/** @returns undefined when the message was deleted in the meantime. */
async function copy(blobs: BlobStore, file: StoredFile, blob: string): Promise<CopiedFile | undefined> {
  try {
    return { ...file.about, ...(await blobs.put(blob, await file.open())) }
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined
    throw error
  }
}
