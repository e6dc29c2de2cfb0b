import type { PublicJwk } from '@restante/contracts/schemas'
import { isUuid, LIMITS } from '@restante/contracts/vocabulary'
import { compactVerify, importJWK } from 'jose'
import { PublicError } from '../http/public-error.ts'
import { decodeBase64url, hasExactly, stringMembers } from './canonical.ts'

/** What an assertion is for: its type, and the claims that it has, neither fewer nor more. */
export interface AssertionForm<Claim extends string> {
  readonly typ: string
  readonly claims: readonly Claim[]
}

/** Of a browser that makes a key (apps 7.2, step 3). */
export const ENROLLMENT = {
  typ: 'signin-enroll+jwt',
  claims: ['challenge', 'enrollment_id', 'inbox_id', 'aud'],
} as const satisfies AssertionForm<string>

/** Of a sign-in key, for one sign-in (apps 7.2, step 4a). */
export const SIGN_IN = {
  typ: 'signin+jwt',
  claims: ['jti', 'inbox_id', 'client_id', 'redirect_uri_hash'],
} as const satisfies AssertionForm<string>

/** Of a registered key (apps 8). */
export const APPROVAL = {
  typ: 'agentid-approval+jwt',
  claims: ['jti', 'inbox_id'],
} as const satisfies AssertionForm<string>

const HEADER = ['alg', 'typ', 'kid'] as const

/** A compact JWS whose form and header are right, and whose signature is not checked yet. */
export class Assertion<Claim extends string> {
  /** Id of the key that it names; nothing proves it yet. */
  readonly kid: string
  readonly #text: string
  readonly #payload: Buffer
  readonly #form: AssertionForm<Claim>

  /**
   * @throws PublicError 400 for a text that is no compact JWS, 401 for another header than the form's. No member of a
   * header is ever obeyed: a key comes from nowhere but `kid`, and the algorithm is always ES256.
   */
  constructor(text: unknown, form: AssertionForm<Claim>) {
    const [header, payload] = segmentsOf(text)
    const members = stringMembers(header)
    const kid = members?.get('kid') ?? ''
    const fits = members !== undefined && hasExactly(members, HEADER)
    if (!fits || members.get('alg') !== 'ES256' || members.get('typ') !== form.typ || !isUuid(kid)) {
      throw refusedAssertion(`Its header must be exactly {"alg":"ES256","typ":"${form.typ}","kid":"<api_key_id>"}`)
    }
    this.kid = kid
    this.#text = String(text)
    this.#payload = payload
    this.#form = form
  }

  /** A claim before anything is proven: only to look up what the proof needs. */
  unproven(claim: Claim): string | undefined {
    return stringMembers(this.#payload)?.get(claim)
  }

  /**
   * The claims, proven by the holder of a key.
   * @param jwk of the key that `kid` names; undefined when there is none.
   * @throws PublicError 401 for a signature by any other key, then 400 for other claims than the form's.
   */
  async verify(jwk: PublicJwk | undefined): Promise<Readonly<Record<Claim, string>>> {
    if (jwk === undefined || !(await isSignedBy(this.#text, jwk)))
      throw refusedAssertion('Its key or signature is not valid')
    const members = stringMembers(this.#payload)
    if (members === undefined || !hasExactly(members, this.#form.claims)) {
      throw malformedAssertion(`Its claims must be exactly ${this.#form.claims.join(', ')}, each a string`)
    }
    return Object.fromEntries(members) as Record<Claim, string>
  }
}

async function isSignedBy(text: string, { kty, crv, x, y }: PublicJwk): Promise<boolean> {
  try {
    await compactVerify(text, await importJWK({ kty, crv, x, y }, 'ES256'), { algorithms: ['ES256'] })
    return true
  } catch {
    return false
  }
}

function segmentsOf(text: unknown): [header: Buffer, payload: Buffer] {
  if (typeof text !== 'string' || text.length > LIMITS.app.assertion) {
    throw malformedAssertion(`It must be a compact JWS of at most ${LIMITS.app.assertion} bytes`)
  }
  const segments = text.split('.').map(decodeBase64url)
  const [header, payload, signature] = segments
  if (segments.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw malformedAssertion('It must be three segments of unpadded base64url')
  }
  return [header, payload]
}

function malformedAssertion(problem: string): PublicError {
  return new PublicError(400, 'invalid_request', `The assertion is malformed. ${problem}.`)
}

/** The answer to an assertion that proves nothing. An unknown key and a wrong signature look the same. */
export function refusedAssertion(problem: string): PublicError {
  return new PublicError(401, 'invalid_assertion', `The assertion is refused. ${problem}.`)
}
