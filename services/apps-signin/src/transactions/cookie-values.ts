import { createHash, randomBytes } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'

/** The cookie by which a browser owns a sign-in. */
export interface TransactionCookie {
  readonly name: string
  readonly value: string
}

const COOKIE_BYTES = 32
/** As long as a sign-in can last: one that waits for the owner lasts longer than others. */
export const COOKIE_SECONDS = (LIMITS.app.transaction + 2 * LIMITS.app.ownerApproval) / 1_000

/** Name of the cookie of a sign-in: one for each, so that sign-ins in several tabs do not end each other. */
export function cookieNameOf(jti: string): string {
  return `__Host-tx-${createHash('sha256').update(jti).digest('hex').slice(0, 8)}`
}

/** A new cookie for a sign-in. */
export function cookieOf(jti: string): TransactionCookie {
  return { name: cookieNameOf(jti), value: randomBytes(COOKIE_BYTES).toString('base64url') }
}

/** What is stored of a cookie. */
export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}
