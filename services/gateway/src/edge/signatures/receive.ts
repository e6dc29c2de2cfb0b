import type { OperationDefinition } from '@restante/contracts/operations'
import { type Exchange, hasBody, readBody } from '@restante/service/http'
import { isDigestOf } from './content-digest.ts'
import { FIXES, refusedSignature } from './refusals.ts'

/**
 * Reads the body of a request with a valid signature into `exchange.received`: only bytes whose digest was signed may
 * be forwarded, so all of them are read first.
 * @param count called with the number of bytes as they arrive.
 * @throws ApiError 401 when they have another digest; what `readBody` throws for a body that is too large.
 */
export async function receiveSigned(
  exchange: Exchange,
  { bodyLimit }: OperationDefinition,
  count: (bytes: number) => void,
): Promise<void> {
  const { request, response } = exchange
  const body = hasBody(request) ? await readBody(request, response, bodyLimit, count) : Buffer.alloc(0)
  const digest = request.headers['content-digest']
  // With a body, the header is covered by the signature and therefore present.
  if (digest !== undefined && !isDigestOf(String(digest), body)) throw refusedSignature(FIXES.digest)
  exchange.received = body
}
