import { BlobNotFoundError } from '@restante/blobs'
import { type Caller, type CallerInbox, visibleLabels } from '@restante/contracts/access'
import type { CopiedFile, InternalRequestOf } from '@restante/contracts/internal'
import type { SendAttachment } from '@restante/contracts/operations'
import { readMidUrl } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import { type ApiError, notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { DraftLinks } from '../../files/links.ts'
import type { FileShelf } from '../../files/shelf.ts'
import { fileBlob, files, type StoredFile, storedOf } from '../../files/store.ts'
import { rejected, TOO_LARGE, tooLargeToForward } from './rejections.ts'
import { bringCopy } from './source.ts'

/** A file that is here already, as a request names it. */
export type Reference =
  /** An attachment of a message; without an inbox, of the sending one. */
  | { readonly kind: 'message'; readonly messageId: string; readonly attachmentId: string; readonly inbox?: string }
  /** The token of a download link of the mailbox, or of a draft. */
  | { readonly kind: 'mailbox link'; readonly token: string }
  | { readonly kind: 'draft link'; readonly token: string }

/** The attachments of a message that is forwarded. */
export interface ForwardedFiles {
  readonly messageId: string
  /** Ids. */
  readonly attachments: readonly string[]
}

/** The request in which files are referred to. */
export interface ReferenceRequest {
  readonly caller: Caller
  readonly inbox: CallerInbox
}

export interface ReferencedFilesOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'mail-send'>
  readonly mailIngest: ServiceClient<'mail-send'>
  readonly shelf: FileShelf
  readonly draftLinks: DraftLinks
  /** What precedes the token of a download link of the mailbox. */
  readonly mailboxLinks: string
}

/** Copying at most 30 MB within the storage. */
const TIMEOUT_MS = 30_000

/** Attachments that are sent again without their bytes passing through the caller (drive 9.1). */
export class ReferencedFiles {
  readonly #options: ReferencedFilesOptions

  constructor(options: ReferencedFilesOptions) {
    this.#options = options
  }

  /** @returns undefined for an attachment that brings its content, or whose URL is fetched. */
  read({ url, message_id, attachment_id, inbox_id }: SendAttachment): Reference | undefined {
    if (message_id !== undefined && attachment_id !== undefined) {
      const inbox = inbox_id === undefined ? {} : { inbox: inbox_id }
      return { kind: 'message', messageId: message_id, attachmentId: attachment_id, ...inbox }
    }
    if (url === undefined) return undefined
    const { mailboxLinks, draftLinks } = this.#options
    if (url.startsWith(mailboxLinks)) return { kind: 'mailbox link', token: url.slice(mailboxLinks.length) }
    if (url.startsWith(draftLinks.baseUrl)) return { kind: 'draft link', token: url.slice(draftLinks.baseUrl.length) }
    const mid = readMidUrl(url)
    return mid && { kind: 'message', ...mid }
  }

  /**
   * Copies the file that is referred to; from then on nothing that happens to its source matters.
   * @param maxBytes most bytes that it may have. @param index its place among the attachments of the request.
   * @throws ApiError 403 `missing_permission` or `message_rejected`; 404 for what the caller cannot see.
   */
  async copy(reference: Reference, request: ReferenceRequest, maxBytes: number, index: number): Promise<StoredFile> {
    if (reference.kind === 'draft link') return this.#copyOfDraft(reference.token, request, maxBytes, index)
    const [id = ''] = await this.#announce(request, 1)
    const blob = fileBlob(id)
    const source =
      reference.kind !== 'message'
        ? { link: reference.token, blob }
        : await this.#messageSource(reference, request, [{ attachment_id: reference.attachmentId, blob }])
    const [file] = await this.#copy(source, request, maxBytes, () => rejected(index, TOO_LARGE))
    if (!file) throw notFound('Attachment')
    return { ...cleaned(file), id }
  }

  /**
   * Copies all attachments of a message that is forwarded, which its source has shown to the caller.
   * @throws ApiError 403 `message_rejected` when they are too large; 404.
   */
  async copyAll(
    { messageId, attachments }: ForwardedFiles,
    request: ReferenceRequest,
    maxBytes: number,
  ): Promise<StoredFile[]> {
    if (attachments.length === 0) return []
    const ids = await this.#announce(request, attachments.length)
    const source = {
      inbox_uid: request.inbox.uid,
      message_id: messageId,
      visible_labels: visibleLabels(request.caller.credential),
      attachments: attachments.map((attachment_id, index) => ({ attachment_id, blob: fileBlob(ids[index] ?? '') })),
    }
    const copied = await this.#copy(source, request, maxBytes, () => tooLargeToForward())
    return copied.map((file, index) => ({ ...cleaned(file), id: ids[index] ?? '' }))
  }

  async #messageSource(
    { inbox, messageId }: Extract<Reference, { kind: 'message' }>,
    { caller, inbox: own }: ReferenceRequest,
    attachments: { attachment_id: string; blob: string }[],
  ) {
    const inbox_uid = inbox === undefined ? own.uid : await this.#inboxUid(inbox, caller, own)
    return { inbox_uid, message_id: messageId, visible_labels: visibleLabels(caller.credential), attachments }
  }

  /** Another inbox must lie in the scope of the key, whatever inbox the path names. */
  async #inboxUid(given: string, { organization_id, credential }: Caller, own: CallerInbox): Promise<string> {
    const { inboxes } = await this.#options.gateway.call('gateway.lookupInboxes', {
      organization_id,
      ...(credential.tier === 'pod' && { pod_id: own.pod_id }),
      ...(credential.tier === 'inbox' && { inbox_uid: own.uid }),
      inboxes: [given],
      pods: [],
    })
    const [found] = inboxes
    if (!found) throw notFound('Inbox')
    return found.inbox_uid
  }

  async #copy(
    source: InternalRequestOf<'mail-ingest.copyFiles'>['source'],
    { inbox }: ReferenceRequest,
    max_bytes: number,
    tooLarge: () => ApiError,
  ): Promise<CopiedFile[]> {
    const { db, mailIngest } = this.#options
    const copy = () => mailIngest.call('mail-ingest.copyFiles', { source, max_bytes }, TIMEOUT_MS)
    let answer = await copy()
    // The inbox may have sent the message moments ago (mail 6.3).
    const isMissing = 'refused' in answer && answer.refused === 'no_message' && 'inbox_uid' in source
    if (isMissing && source.inbox_uid === inbox.uid && (await bringCopy(db, mailIngest, inbox, source.message_id)))
      answer = await copy()
    if (!('refused' in answer)) return answer.files
    if (answer.refused === 'too_large') throw tooLarge()
    throw notFound(MISSING[answer.refused])
  }

  async #copyOfDraft(token: string, request: ReferenceRequest, maxBytes: number, index: number): Promise<StoredFile> {
    const { db, draftLinks, shelf } = this.#options
    const target = draftLinks.open(token)
    const kept = target && (await files.linked(db, target))
    if (!kept) throw notFound('File')
    if (kept.size > maxBytes) throw rejected(index, TOO_LARGE)
    const [id = ''] = await this.#announce(request, 1)
    // The draft may end at this moment.
    await shelf.copy(kept.id, id).catch((error: unknown) => {
      throw error instanceof BlobNotFoundError ? notFound('File') : error
    })
    return { ...storedOf(kept), id, sha256: kept.sha256 }
  }

  #announce({ caller, inbox }: ReferenceRequest, count: number): Promise<string[]> {
    return this.#options.shelf.announce({ organizationId: caller.organization_id, inboxUid: inbox.uid }, count)
  }
}

const CONTROL = /[\p{Cc}\u2028\u2029]/gu
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/

/** Whoever sent the mail chose these: what no header may contain is left out, so that any file can be sent on. */
function cleaned({ filename, content_type, content_id, ...file }: CopiedFile): CopiedFile {
  const name = filename?.toWellFormed().replace(CONTROL, '').slice(0, LIMITS.send.attachmentName)
  const isId = content_id !== undefined && /^[!-~]+$/.test(content_id) && !/[<>]/.test(content_id)
  return {
    ...file,
    ...(name && { filename: name }),
    ...(content_type !== undefined && MEDIA_TYPE.test(content_type) && { content_type }),
    ...(isId && { content_id }),
  }
}

const MISSING = { no_message: 'Message', no_attachment: 'Attachment', no_link: 'File' } as const
