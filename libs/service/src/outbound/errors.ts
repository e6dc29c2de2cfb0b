/** Why an address, or a URL, is not allowed for requests on behalf of a user. */
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
 * The request was not made, or not followed further, because the rules forbid it. The same URL may be allowed later:
 * its name may resolve to another address.
 */
export class OutboundRefusedError extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'OutboundRefusedError'
    this.reason = reason
  }
}

/** No complete response within the time that the caller gave. */
export class OutboundTimeoutError extends Error {
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    super(`No complete response within ${timeoutMs} ms.`)
    this.name = 'OutboundTimeoutError'
    this.timeoutMs = timeoutMs
  }
}

/** The response's content is larger than the caller accepts. */
export class OutboundTooLargeError extends Error {
  readonly limit: number
  constructor(limit: number) {
    super(`The response is larger than ${limit} bytes.`)
    this.name = 'OutboundTooLargeError'
    this.limit = limit
  }
}

/**
 * The host could not be found or reached, TLS failed, or the connection broke. Deliberately without `code` and `cause`:
 * a user's dead host must never look like an infrastructure failure, which is retried without limit.
 */
export class OutboundNetworkError extends Error {
  readonly networkCode: string
  constructor(networkCode: string) {
    super(`The request failed with a network error: ${networkCode}.`)
    this.name = 'OutboundNetworkError'
    this.networkCode = networkCode
  }
}

/**
 * The request could not be made for a reason on this side: no name server has answered, or this machine has no socket,
 * memory or route. It says nothing about the host. Where that makes no difference it is a network error like others.
 */
export class OutboundUnavailableError extends OutboundNetworkError {
  constructor(networkCode: string) {
    super(networkCode)
    this.name = 'OutboundUnavailableError'
  }
}
