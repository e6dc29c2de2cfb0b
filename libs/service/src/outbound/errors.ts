/** Why an address, or a URL, is none that we talk to on behalf of a user. */
export type RefusalReason =
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared'
  | 'multicast'
  | 'unspecified'
  | 'metadata'
  | 'reserved'
  | 'url'
  | 'protocol'
  | 'credentials'
  | 'header'
  | 'redirects'

/**
 * The request was not made, or not followed further, because our rules forbid it. The same URL may be fine later: its
 * name may resolve elsewhere.
 */
export class OutboundRefusedError extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'OutboundRefusedError'
    this.reason = reason
  }
}

/** No complete answer within the time that the caller gave. */
export class OutboundTimeoutError extends Error {
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    super(`No complete answer within ${timeoutMs} ms.`)
    this.name = 'OutboundTimeoutError'
    this.timeoutMs = timeoutMs
  }
}

/** The answer's content is larger than the caller takes. */
export class OutboundTooLargeError extends Error {
  readonly limit: number
  constructor(limit: number) {
    super(`The answer is larger than ${limit} bytes.`)
    this.name = 'OutboundTooLargeError'
    this.limit = limit
  }
}

/**
 * The host could not be found or reached, TLS failed, or the connection broke. Deliberately without `code` and `cause`:
 * a user's dead host must never look like an infrastructure error of ours, which is retried without limit.
 */
export class OutboundNetworkError extends Error {
  readonly networkCode: string
  constructor(networkCode: string) {
    super(`The request failed on the network: ${networkCode}.`)
    this.name = 'OutboundNetworkError'
    this.networkCode = networkCode
  }
}
