import path from 'node:path'
import type { Caller, CallerCredential, CallerInbox } from '@restante/contracts/access'
import type { SendAttachment } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { mediaTypeOf, type OutgoingAttachment } from '@restante/mime'
import { requirePermission } from '@restante/service/identity'
import {
  type GuardedFetch,
  OutboundNetworkError,
  OutboundRefusedError,
  type OutboundRequest,
  type OutboundResponse,
  OutboundTimeoutError,
  OutboundTooLargeError,
} from '@restante/service/outbound'
import type { FileOwner, FileShelf } from '../../files/shelf.ts'
import type { FileFacts, StoredFile } from '../../files/store.ts'
import { fetchedName } from './fetched-name.ts'
import type { ForwardedFiles, ReferencedFiles } from './referenced-files.ts'
import { rejected, TOO_LARGE, unavailable } from './rejections.ts'

const REDIRECTS = 5
const UNKNOWN = mediaTypeOf(undefined)
/** Statuses that may be temporary (mail 16). */
const PASSING = new Set([408, 429])

/** The request that the attachments belong to. */
export interface AttachmentRequest {
  readonly caller: Caller
  readonly inbox: CallerInbox
  readonly signal: AbortSignal
  /** Counts bytes that are fetched, or read from storage, against the memory of the process. */
  readonly count: (bytes: number) => void
}

export interface AttachmentLoaderOptions {
  readonly fetcher: GuardedFetch
  readonly timeoutMs: number
  readonly references: ReferencedFiles
  readonly shelf: FileShelf
}

/** The attachments of one message, in order: given by content or by URL, or files that are stored already. */
export type Attached =
  | { readonly kind: 'bytes'; readonly attachment: OutgoingAttachment }
  | { readonly kind: 'file'; readonly file: StoredFile }

/** Whether loading an attachment takes the time of another server or service. */
export function isRemote({ content }: SendAttachment): boolean {
  return content === undefined
}

/** Gets the bytes of attachments, from wherever a request says they are (mail 16, drive 9.1). */
export class AttachmentLoader {
  readonly #options: AttachmentLoaderOptions

  constructor(options: AttachmentLoaderOptions) {
    this.#options = options
  }

  /** Refuses references of a key that may not read messages, before anything is fetched. @throws ApiError 403 */
  requireRights(given: readonly SendAttachment[], credential: CallerCredential): void {
    if (given.some((one) => this.#options.references.read(one)?.kind === 'message'))
      requirePermission(credential, 'message_read')
  }

  /**
   * The bytes of all attachments, for a message that is composed now.
   * @param left most bytes that are fetched or read from storage.
   * @throws ApiError 403 when a URL does not give an attachment, or for a permission; 404 for what cannot be referred
   *   to; 503 when a server is temporarily unreachable (mail 16); the reason of the signal.
   */
  async load(
    given: readonly SendAttachment[],
    request: AttachmentRequest,
    left: number = LIMITS.send.fetchedBytes,
  ): Promise<OutgoingAttachment[]> {
    const loaded: OutgoingAttachment[] = []
    const temporary: string[] = []
    try {
      for await (const attached of this.#each(given, request, left)) {
        if (attached.kind === 'file') temporary.push(attached.file.id)
        loaded.push(attached.kind === 'bytes' ? attached.attachment : await this.#read(attached.file, request))
      }
    } finally {
      await this.#options.shelf.drop(temporary)
    }
    return loaded
  }

  /** The same for a draft: all are stored, and belong to no draft yet. What is not kept is swept. */
  async store(given: readonly SendAttachment[], request: AttachmentRequest): Promise<StoredFile[]> {
    const { shelf } = this.#options
    const stored: StoredFile[] = []
    for await (const attached of this.#each(given, request, LIMITS.send.fetchedBytes)) {
      if (attached.kind === 'file') stored.push(attached.file)
      else stored.push(await shelf.store(ownerOf(request), attached.attachment.content, factsOf(attached.attachment)))
    }
    return stored
  }

  /** The bytes of all attachments of a message that is forwarded. */
  async loadForwarded(source: ForwardedFiles, request: AttachmentRequest): Promise<OutgoingAttachment[]> {
    const { references, shelf } = this.#options
    const copied = await references.copyAll(source, request, LIMITS.send.fetchedBytes)
    try {
      return await this.read(copied, request)
    } finally {
      await shelf.drop(copied.map(({ id }) => id))
    }
  }

  /** The bytes of stored files. */
  async read(stored: readonly StoredFile[], request: AttachmentRequest): Promise<OutgoingAttachment[]> {
    const loaded: OutgoingAttachment[] = []
    for (const file of stored) loaded.push(await this.#read(file, request))
    return loaded
  }

  async #read(file: StoredFile, { count }: AttachmentRequest): Promise<OutgoingAttachment> {
    count(file.size)
    return outgoing(await this.#options.shelf.read(file.id), file)
  }

  /** One after the other, so that no more than the limit is ever held. */
  async *#each(given: readonly SendAttachment[], request: AttachmentRequest, most: number): AsyncGenerator<Attached> {
    const { fetcher, timeoutMs, references } = this.#options
    let left = most
    for (const [index, attachment] of given.entries()) {
      const { url, content } = attachment
      const reference = references.read(attachment)
      if (reference) {
        const file = await references.copy(reference, request, left, index)
        left -= file.size
        yield { kind: 'file', file: { ...file, ...definedFacts(attachment) } }
      } else if (url === undefined) {
        yield { kind: 'bytes', attachment: describe(attachment, Buffer.from(content ?? '', 'base64')) }
      } else {
        const { signal, count } = request
        const response = await fetchOne(fetcher, url, index, { timeoutMs, signal, count, maxBytes: left })
        left -= response.body.length
        yield { kind: 'bytes', attachment: describe(attachment, response.body, response) }
      }
    }
  }
}

function ownerOf({ caller, inbox }: AttachmentRequest): FileOwner {
  return { organizationId: caller.organization_id, inboxUid: inbox.uid }
}

/** What the caller says of a file outweighs what its source says. */
function definedFacts({ filename, content_type, content_disposition, content_id }: SendAttachment): FileFacts {
  return {
    ...(filename !== undefined && { filename }),
    ...(content_type !== undefined && { content_type }),
    ...(content_disposition !== undefined && { content_disposition }),
    ...(content_id !== undefined && { content_id: withoutBrackets(content_id) }),
  }
}

function factsOf({ filename, contentType, disposition, contentId }: OutgoingAttachment): FileFacts {
  return {
    ...(filename !== undefined && { filename }),
    ...(contentType !== undefined && { content_type: contentType }),
    ...(disposition !== undefined && { content_disposition: disposition }),
    ...(contentId !== undefined && { content_id: contentId }),
  }
}

function outgoing(
  content: Buffer,
  { filename, content_type, content_disposition, content_id }: FileFacts,
): OutgoingAttachment {
  return {
    content,
    ...(filename !== undefined && { filename }),
    ...(content_type !== undefined && { contentType: content_type }),
    ...(content_disposition !== undefined && { disposition: content_disposition }),
    ...(content_id !== undefined && { contentId: content_id }),
  }
}

function withoutBrackets(contentId: string): string {
  return contentId.replace(/^<|>$/g, '')
}

function describe(
  { filename, content_type, content_disposition, content_id }: SendAttachment,
  content: Buffer,
  fetched?: OutboundResponse,
): OutgoingAttachment {
  const fetchedType = fetched?.headers['content-type']
  const name = filename ?? (fetched && fetchedName(fetched.url, fetched.headers['content-disposition']))
  // The extension of a file name, where it is known, gives the type more reliably than most servers do.
  const named = filename !== undefined && path.extname(filename) !== '' && mediaTypeOf(filename) !== UNKNOWN
  const contentType = content_type ?? (named || typeof fetchedType !== 'string' ? undefined : mediaType(fetchedType))
  return outgoing(content, {
    ...definedFacts({ content_disposition, content_id }),
    ...(name !== undefined && { filename: name }),
    ...(contentType !== undefined && { content_type: contentType }),
  })
}

/** A foreign server's header, of which only a plain media type is used. */
function mediaType(header: string): string | undefined {
  return /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(?:;|$)/.exec(header)?.[1]?.toLowerCase()
}

async function fetchOne(
  fetcher: GuardedFetch,
  url: string,
  index: number,
  limits: Pick<OutboundRequest, 'timeoutMs' | 'maxBytes' | 'signal' | 'count'>,
): Promise<OutboundResponse> {
  const response = await fetcher.fetch(url, { ...limits, redirects: REDIRECTS }).catch((error: unknown) => {
    throw fetchFailure(error, index)
  })
  const { status } = response
  if (status >= 200 && status < 300) return response
  if (status >= 500 || PASSING.has(status)) throw unavailable(index, `its server answered ${status}.`)
  throw rejected(index, `its server answered ${status}`)
}

function fetchFailure(error: unknown, index: number): unknown {
  if (error instanceof OutboundRefusedError) return rejected(index, error.message, error)
  if (error instanceof OutboundTooLargeError) return rejected(index, TOO_LARGE, error)
  if (error instanceof OutboundTimeoutError || error instanceof OutboundNetworkError)
    return unavailable(index, error.message, error)
  return error
}
