import path from 'node:path'
import type { SendAttachment } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { OutgoingAttachment } from '@restante/mime'
import { ApiError } from '@restante/service/errors'
import {
  type GuardedFetch,
  OutboundNetworkError,
  OutboundRefusedError,
  type OutboundRequest,
  type OutboundResponse,
  OutboundTimeoutError,
  OutboundTooLargeError,
} from '@restante/service/outbound'
import { fetchedName } from './fetched-name.ts'

const REDIRECTS = 5
/** Statuses that may be temporary (mail 16). */
const PASSING = new Set([408, 429])

/**
 * Gets the bytes of all attachments: decoded from the request, or fetched, one after the other, so that no more than
 * the limit is ever held; `count` is called with the fetched bytes.
 * @throws ApiError 403 when a URL does not give an attachment, 503 when it is temporarily unreachable (mail 16); the
 * reason of `signal`.
 */
export async function loadAttachments(
  given: readonly SendAttachment[],
  fetcher: GuardedFetch,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly count: (bytes: number) => void },
): Promise<OutgoingAttachment[]> {
  const loaded: OutgoingAttachment[] = []
  let left: number = LIMITS.send.fetchedBytes
  for (const [index, attachment] of given.entries()) {
    const { url, content = '' } = attachment
    if (url === undefined) {
      loaded.push(describe(attachment, Buffer.from(content, 'base64')))
      continue
    }
    const response = await fetchOne(fetcher, url, index, { ...limits, maxBytes: left })
    left -= response.body.length
    loaded.push(describe(attachment, response.body, response))
  }
  return loaded
}

function describe(
  { filename, content_type, content_disposition, content_id }: SendAttachment,
  content: Buffer,
  fetched?: OutboundResponse,
): OutgoingAttachment {
  const fetchedType = fetched?.headers['content-type']
  const name = filename ?? (fetched && fetchedName(fetched.url, fetched.headers['content-disposition']))
  // The extension of a file name gives the type more reliably than most servers do.
  const named = filename !== undefined && path.extname(filename) !== ''
  const contentType = content_type ?? (named || typeof fetchedType !== 'string' ? undefined : mediaType(fetchedType))
  const contentId = content_id?.replace(/^<|>$/g, '')
  return {
    content,
    ...(name !== undefined && { filename: name }),
    ...(contentType !== undefined && { contentType }),
    ...(content_disposition !== undefined && { disposition: content_disposition }),
    ...(contentId !== undefined && { contentId }),
  }
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
  if (error instanceof OutboundTooLargeError)
    return rejected(index, `URL attachments may have ${LIMITS.send.fetchedBytes} bytes together`, error)
  if (error instanceof OutboundTimeoutError || error instanceof OutboundNetworkError)
    return unavailable(index, error.message, error)
  return error
}

function rejected(index: number, reason: string, cause?: unknown): ApiError {
  return new ApiError('message_rejected', {
    message: `Message rejected: Attachment ${index} could not be fetched: ${reason}`,
    fix: 'Give a public URL that answers with the file itself, or its content as base64.',
    cause,
  })
}

/** @param reason a sentence. */
function unavailable(index: number, reason: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', {
    fix: `Attachment ${index} could not be fetched: ${reason} Repeat the request in a moment, or give the content as base64.`,
    retryAfter: 1,
    cause,
  })
}
