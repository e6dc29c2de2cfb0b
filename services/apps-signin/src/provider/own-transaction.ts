import type { Exchange } from '@restante/service/http'
import { readPageCall } from '../http/page-calls.ts'
import { PublicError } from '../http/public-error.ts'
import { findByCookie } from '../transactions/cookies.ts'
import type { Transaction } from '../transactions/store.ts'
import type { ProviderOptions } from './deps.ts'

/**
 * Reads a call of a page about the sign-in that its browser began: exactly `jti` and the other members.
 * @throws PublicError 401 for a browser that did not begin it.
 */
export async function readOwnCall(
  { db, authBase }: ProviderOptions,
  exchange: Exchange,
  member: string,
): Promise<{ readonly transaction: Transaction; readonly value: unknown }> {
  const { jti, [member]: value, ...rest } = await readPageCall(exchange, authBase)
  if (Object.keys(rest).length > 0 || typeof jti !== 'string' || value === undefined) {
    throw new PublicError(400, 'invalid_request', `Send exactly the members jti and ${member}`)
  }
  const transaction = await findByCookie(db, exchange.request, jti)
  if (transaction === undefined) throw notOwn()
  exchange.facts['transaction'] = transaction.jti
  exchange.facts['client_id'] = transaction.client_id
  return { transaction, value }
}

/** The answer to a browser without the cookie of a sign-in; whether there is such a sign-in it does not say. */
export function notOwn(): PublicError {
  return new PublicError(401, 'invalid_request', 'This browser did not begin the sign-in. Begin again at the app.')
}

/** @throws PublicError 410 for a sign-in whose time is over, 409 for one that was decided. */
export function requireUndecided({ live, ended_at, approved_at }: Transaction): void {
  if (!live && ended_at === null) throw expired()
  if (!live || approved_at !== null) throw decided()
}

export function decided(): PublicError {
  return new PublicError(409, 'already_decided', 'The sign-in was decided before')
}

export function expired(): PublicError {
  return new PublicError(410, 'expired', 'The time of this sign-in is over. Begin again at the app.')
}
