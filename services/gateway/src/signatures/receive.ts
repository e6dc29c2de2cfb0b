import type { OperationDefinition } from '@restante/contracts'
import { type Exchange, hasBody, readBody } from '@restante/service'
import { isDigestOf } from './content-digest.ts'
import { FIXES, refusedSignature } from './refusals.ts'

/**
 * Reads the body of a request whose signature holds into `exchange.received`: only bytes whose digest was signed may go
 * on, so all of them are read before any does.
 * @param count is told of the bytes as they come.
 * @throws ApiError 401 where they have another digest; what `readBody` throws for a body that is too large.
 */
export async function receiveSigned(
  exchange: Exchange,
  { bodyLimit }: OperationDefinition,
  count: (bytes: number) => void,
): Promise<void> {
  const { request, response } = exchange
  const body = hasBody(request) ? await readBody(request, response, bodyLimit, count) : Buffer.alloc(0)
  const digest = request.headers['content-digest']
  // Where there is a body, the header is covered and so it is there.
  if (digest !== undefined && !isDigestOf(String(digest), body)) throw refusedSignature(FIXES.digest)
  exchange.received = body
}
