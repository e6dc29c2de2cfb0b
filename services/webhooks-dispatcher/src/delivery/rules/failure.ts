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

/**
 * The kind of a failed request. A failure that the receiver has not caused is rethrown: it is not a failed attempt, and
 * is retried soon. It is one at the end of the time that a delivery has, so that none is retried for ever.
 */
export function failureOf(error: unknown, createdAt: Date): string {
  if (error instanceof OutboundUnavailableError && Date.now() - createdAt.getTime() < SCHEDULE_MS) throw error
  if (error instanceof OutboundRefusedError) return `refused: ${error.reason}`
  if (error instanceof OutboundTimeoutError) return 'timeout'
  if (error instanceof OutboundTooLargeError) return 'response too large'
  if (error instanceof OutboundNetworkError) return `network: ${error.networkCode}`
  throw error
}
