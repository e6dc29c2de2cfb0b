import type { Database } from '@restante/service/database'
import type { Exchange } from '@restante/service/http'
import { PublicError } from '../http/public-error.ts'
import { findByCookie } from '../transactions/cookies.ts'
import { progressOf } from './store.ts'

/**
 * `waiting`: for an agent, or for the human owner. `enroll`: the browser has a key to make. `approved`: it goes on at
 * `/v0/authorize/continue`. `ended`: so it does, to be sent back to the app.
 */
export type SignInState = 'waiting' | 'enroll' | 'approved' | 'ended'

/** How far a sign-in is, for the browser that began it. @throws PublicError 401 */
export async function statusOf(db: Database, { request }: Exchange, jti: unknown): Promise<SignInState> {
  const transaction = await findByCookie(db, request, jti)
  if (transaction === undefined) throw new PublicError(401, 'invalid_request', 'This browser did not begin the sign-in')
  if (!transaction.live) return 'ended'
  const { enrolled, owner_asked } = await progressOf(db, transaction.jti, transaction.api_key_id)
  if (transaction.approved_at !== null) return owner_asked ? 'waiting' : 'approved'
  return transaction.credential_id === null || enrolled ? 'waiting' : 'enroll'
}
