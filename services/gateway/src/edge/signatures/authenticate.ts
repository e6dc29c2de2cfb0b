import type { IncomingMessage } from 'node:http'
import { isUuid } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { hasBody } from '@restante/service/http'
import { isSignatureError, verifySignature } from 'http-message-sig'
import type { Identity } from '../../identity/identity.ts'
import { SharedLookup } from '../authentication/shared-lookup.ts'
import { requireBoundedForm } from './bounded-form.ts'
import { takeNonce } from './nonces.ts'
import { type Claims, requireClaims } from './policy.ts'
import { explained, FIXES, refusedBySignature, refusedSignature } from './refusals.ts'
import { descriptorOf, fieldsOf } from './signed-message.ts'
import { ALGORITHM, findSigners, type Signer } from './signers.ts'

const LABEL = 'sig1'

export interface SignatureOptions {
  readonly db: Queryable
  /** The URLs of the API: what a signed target may begin with. The Host header is not used (docs/decisions). */
  readonly publicUrls: readonly string[]
}

interface Proof extends Claims {
  readonly signer: Signer
}

/** Authenticates requests that are signed with a registered public key (identity 2.4, RFC 9421). */
export class Signatures {
  readonly #db: Queryable
  readonly #bases: readonly string[]
  readonly #shared: SharedLookup<Signer>

  constructor({ db, publicUrls }: SignatureOptions) {
    this.#db = db
    this.#bases = publicUrls.map((url) => url.replace(/\/+$/, ''))
    this.#shared = new SharedLookup({ find: (ids) => findSigners(db, ids) })
  }

  /**
   * The holder of the key that signed a request; its body is checked separately (`receiveSigned`). The nonce is taken
   * only after the signature has been verified: so one client cannot use up another's nonces.
   * @param sparingly for a client that has failed too often: its keys cost no query of their own (`SharedLookup`).
   * @throws ApiError 401
   */
  async authenticate(request: IncomingMessage, sparingly = false): Promise<Identity> {
    if (request.headers.authorization !== undefined) throw refusedSignature(FIXES.authorization)
    const { signer, nonce } = await this.#prove(request, sparingly)
    const { identity } = signer
    if (identity.expiresAt <= Date.now()) throw new ApiError('api_key_expired')
    if (!(await takeNonce(this.#db, identity.credential.id, nonce))) throw refusedSignature(FIXES.nonceUsed)
    return identity
  }

  /**
   * Tries each URL of the API: the one that the client used must not be determined by anything that could be forged.
   */
  async #prove(request: IncomingMessage, sparingly: boolean): Promise<Proof> {
    const digested = hasBody(request) || request.headers['content-digest'] !== undefined
    const fields = fieldsOf(request, requireBoundedForm(request, this.#bases))
    let proof: Proof | undefined
    for (const base of this.#bases) {
      try {
        await verifySignature(descriptorOf(request, fields, base), {
          label: LABEL,
          // Time and coverage are checked separately, where each has an error of its own.
          policy: {
            algorithms: [ALGORITHM],
            requiredComponents: [],
            requiredParameters: [],
            clockSkew: Number.MAX_VALUE,
          },
          resolveVerifier: async (candidate) => {
            proof ??= await this.#claimed(requireClaims(candidate, digested, Date.now()), sparingly)
            return proof.signer
          },
        })
        if (proof !== undefined) return proof
      } catch (error) {
        if (!isSignatureError(error) || error.code !== 'VerificationFailed') throw explained(error)
      }
    }
    throw refusedBySignature(this.#bases)
  }

  async #claimed(claims: Claims, sparingly: boolean): Promise<Proof> {
    const signer = isUuid(claims.keyId) ? await this.#find(claims.keyId.toLowerCase(), sparingly) : undefined
    if (signer === undefined) throw refusedBySignature(this.#bases)
    return { ...claims, signer }
  }

  async #find(keyId: string, sparingly: boolean): Promise<Signer | undefined> {
    return sparingly ? this.#shared.ask(keyId) : (await findSigners(this.#db, [keyId])).get(keyId)
  }
}
