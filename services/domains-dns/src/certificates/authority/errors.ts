import { parseRetryAfter } from './retry-after.ts'

/** The authority answered with a problem document (RFC 8555 6.7). The message is its `detail`. */
export class AcmeProblemError extends Error {
  override readonly name = 'AcmeProblemError'
  /** Without the prefix of the namespace: `rateLimited`. */
  readonly type: string
  readonly retryAfterMs: number | undefined

  constructor(type: string, detail: string, retryAfterMs?: number) {
    super(`${type}: ${detail}`)
    this.type = type
    this.retryAfterMs = retryAfterMs
  }
}

/** The authority could not be reached, or its answer was no ACME. */
export class AuthorityUnreachableError extends Error {
  override readonly name = 'AuthorityUnreachableError'
}

/** The authority could not prove control of the host, with its reason. */
export class ChallengeFailedError extends Error {
  override readonly name = 'ChallengeFailedError'
}

const NAMESPACE = 'urn:ietf:params:acme:error:'
/** Longest text of an authority in an error. */
const DETAIL = 300

/** A response as the library's HTTP client has it; `data` is whatever the authority sent. */
interface Answered {
  readonly status: number
  readonly headers: object
  readonly data: unknown
}

/** The error that a response of an authority is, if any. A bad nonce is none: the library repeats the request. */
export function problemOf({ status, headers, data }: Answered): Error | undefined {
  if (status < 300) return undefined
  const retryAfterMs = parseRetryAfter('retry-after' in headers ? headers['retry-after'] : undefined, Date.now())
  const type = memberOf(data, 'type')
  if (type === undefined || !type.startsWith(NAMESPACE)) {
    if (status === 429) return new AcmeProblemError('rateLimited', 'too many requests', retryAfterMs)
    return new AuthorityUnreachableError(`the authority answered ${status} without an ACME error`)
  }
  const name = type.slice(NAMESPACE.length)
  if (name === 'badNonce') return undefined
  return new AcmeProblemError(name.slice(0, 64), detailOf(data), retryAfterMs)
}

/** The `detail` of a problem document, shortened. */
export function detailOf(problem: unknown): string {
  return (memberOf(problem, 'detail') ?? 'no detail given').slice(0, DETAIL)
}

function memberOf(document: unknown, name: string): string | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  const value: unknown = Reflect.get(document, name)
  return typeof value === 'string' ? value : undefined
}
