import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { readCookie } from '../http/cookies.ts'
import { findTransaction, type Transaction } from './store.ts'

/** The cookie by which a browser owns a sign-in. */
export interface TransactionCookie {
  readonly name: string
  readonly value: string
}

const COOKIE_BYTES = 32
/** As long as a sign-in can last: one that waits for the owner lasts longer than others. */
export const COOKIE_SECONDS = (LIMITS.app.transaction + 2 * LIMITS.app.ownerApproval) / 1_000
const COOKIE = /^[\w-]{43}$/
const JTI = /^[\w-]{22}$/

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

/**
 * The sign-in of this id, if this browser began it.
 * @returns undefined for an unknown id, and for a browser without its cookie: the two look the same from outside. It may
 * have ended or expired (`live`).
 */
export async function findByCookie(
  on: Queryable,
  request: IncomingMessage,
  jti: unknown,
): Promise<Transaction | undefined> {
  if (typeof jti !== 'string' || !JTI.test(jti)) return undefined
  const value = readCookie(request, cookieNameOf(jti))
  if (value === undefined || !COOKIE.test(value)) return undefined
  const transaction = await findTransaction(on, jti)
  if (transaction === undefined) return undefined
  return timingSafeEqual(hashOf(value), transaction.cookie_hash) ? transaction : undefined
}
