import { isUuid } from '@restante/contracts/vocabulary'
import type { Database } from '@restante/service/database'
import type { Exchange, ServiceClient } from '@restante/service/http'
import { PublicError } from '../http/public-error.ts'
import { Assertion, ENROLLMENT, refusedAssertion } from '../jose/assertions.ts'
import { readPublicJwk } from '../jose/public-jwk.ts'
import { ownsEnrollment } from './cookies.ts'
import { type Enrollment, findEnrollment, finishEnrollment } from './store.ts'

export interface FinishOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly authBase: string
}

const MEMBERS = ['enrollment_id', 'public_key', 'proof'] as const

/**
 * Activates the key of an enrollment with the public key whose possession is proven (apps 7.2, step 3). The gateway
 * decides which key wins; the winner may repeat the call when its answer was lost.
 * @throws PublicError 400, 401, 409, 410 or 429
 */
export async function finishEnrolling(
  options: FinishOptions,
  exchange: Exchange,
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(body)
  if (names.length !== MEMBERS.length || !MEMBERS.every((name) => name in body)) {
    throw new PublicError(400, 'invalid_request', `Send exactly the members ${MEMBERS.join(', ')}`)
  }
  const { enrollment_id: id, public_key, proof } = body
  const enrollment = await findOwn(options.db, exchange, id)
  const jwk = readPublicJwk(public_key)
  if (jwk === undefined) {
    throw new PublicError(400, 'invalid_request', 'public_key must be a P-256 key with exactly kty, crv, x and y')
  }
  const assertion = new Assertion(proof, ENROLLMENT)
  requireOwnClaims(options.authBase, enrollment, assertion.kid, await assertion.verify(jwk))
  const { api_key_id } = enrollment
  const activated = await options.gateway.call('gateway.activateSignInKey', { api_key_id, jwk })
  switch (activated.outcome) {
    case 'activated':
      return finishEnrollment(options.db, enrollment.id)
    case 'gone':
      throw gone()
    case 'used':
      throw new PublicError(409, 'invalid_request', 'Another API key has this public key: make a new key pair')
    case 'limited':
      throw new PublicError(429, 'rate_limited', 'As many browsers were enrolled today as may be', {
        'retry-after': String(activated.retry_after),
      })
    default:
      return activated satisfies never
  }
}

async function findOwn(db: Database, exchange: Exchange, id: unknown): Promise<Enrollment> {
  if (typeof id !== 'string' || !isUuid(id)) {
    throw new PublicError(400, 'invalid_request', 'enrollment_id must be the one that was given at the start')
  }
  const enrollment = await findEnrollment(db, id)
  if (enrollment === undefined || !ownsEnrollment(exchange.request, enrollment)) {
    throw new PublicError(401, 'invalid_request', 'This browser did not begin the enrollment')
  }
  if (!enrollment.live) throw gone()
  return enrollment
}

function requireOwnClaims(
  authBase: string,
  enrollment: Enrollment,
  kid: string,
  claims: Readonly<Record<(typeof ENROLLMENT.claims)[number], string>>,
): void {
  const { id, challenge, address, api_key_id } = enrollment
  const isOwn = claims.challenge === challenge && claims.enrollment_id === id && claims.inbox_id === address
  if (isOwn && claims.aud === authBase && kid === api_key_id) return
  throw refusedAssertion('It is of another enrollment')
}

function gone(): PublicError {
  return new PublicError(410, 'expired', 'The enrollment is no longer valid: begin again')
}
