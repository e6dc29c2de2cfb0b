import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Queryable } from '@restante/service/database'
import { readCookie } from '../http/cookies.ts'
import { cookieNameOf, hashOf } from './cookie-values.ts'
import { findTransaction, type Transaction } from './store.ts'

const COOKIE = /^[\w-]{43}$/
const JTI = /^[\w-]{22}$/

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
