import { LIMITS } from '@restante/contracts/vocabulary'
import {
  OutboundNetworkError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLargeError,
  OutboundUnavailableError,
} from '@restante/service/outbound'

/** The attempts of a delivery take this long at most; each retry may wait a tenth longer. */
const SCHEDULE_MS = LIMITS.webhook.retries.reduce((sum, wait) => sum + wait * (1 + LIMITS.webhook.jitter), 0)

/** Why a request failed. */
export interface Failure {
  /** The kind of failure, never a response's content. */
  readonly error: string
  /** Whether the delivery ends with it, whatever its attempts. */
  readonly isLast?: boolean
}

/**
 * What kind of failure a request ended with. A failure that the receiver has not caused is rethrown: it is not a failed attempt,
 * and is retried soon. At the end of the time that a delivery has it is the last one, so that none is retried for ever.
 */
export function failureOf(error: unknown, createdAt: Date): Failure {
  if (error instanceof OutboundUnavailableError && Date.now() - createdAt.getTime() < SCHEDULE_MS) throw error
  if (error instanceof OutboundRefusedError) return { error: `refused: ${error.reason}` }
  if (error instanceof OutboundTimeoutError) return { error: 'timeout' }
  if (error instanceof OutboundTooLargeError) return { error: 'response too large' }
  if (error instanceof OutboundNetworkError) {
    return { error: `network: ${error.networkCode}`, isLast: error instanceof OutboundUnavailableError }
  }
  throw error
}
