import type { Caller } from '@restante/contracts/access'
import { ApiError } from '../../errors/api-error.ts'
import type { ServiceClient } from '../client/service-client.ts'

/** How old, in milliseconds, the known state of a caller may be when a request takes effect. */
const FRESH_MS = 1_000

/**
 * How long to wait for the gateway to confirm a caller, in milliseconds. Longer than for other calls: under load the gateway
 * is late, so that callers must be confirmed, and then its confirmation is late, too.
 */
const CONFIRM_MS = 10_000

/**
 * Looks up a caller again. @returns the caller's current state.
 * @throws ApiError when the request would be refused now; 503 when that cannot be determined.
 */
export type ConfirmCaller = (operation: string, caller: Caller) => Promise<Caller>

/**
 * The caller of one request. A body may take a minute to arrive, and longer to be processed: rights that were revoked
 * in the meantime are not honoured.
 */
export class AdmittedCaller {
  readonly #confirm: (caller: Caller) => Promise<Caller>
  #caller: Caller
  #knownAt: number

  /** @param ageMs how long ago the caller was looked up, in milliseconds. */
  constructor(caller: Caller, ageMs: number, confirm: (caller: Caller) => Promise<Caller>) {
    this.#caller = caller
    // Measured on the monotonic clock.
    this.#knownAt = performance.now() - ageMs
    this.#confirm = confirm
  }

  /** The caller as of at most a second ago; looked up again when what is known is older. @throws as `ConfirmCaller` */
  async current(): Promise<Caller> {
    const now = performance.now()
    if (now - this.#knownAt <= FRESH_MS) return this.#caller
    this.#caller = await this.#confirm(this.#caller)
    this.#knownAt = now
    return this.#caller
  }
}

/** Confirms callers by asking the gateway. Without its answer the request is refused with 503. */
export function confirmWith(gateway: ServiceClient): ConfirmCaller {
  return async (operation, caller) => {
    const confirmed = gateway.call('gateway.confirmCaller', { operation, caller }, CONFIRM_MS)
    const answer = await confirmed.catch((cause: unknown) => {
      throw new ApiError('service_unavailable', { retryAfter: 1, cause })
    })
    if (answer.status === 'confirmed') return answer.caller
    const { code, message, fix } = answer
    throw new ApiError(code, { message, ...(fix !== undefined && { fix }) })
  }
}
