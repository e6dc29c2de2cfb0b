import { type Caller, caller, SERVICES, type ServiceName } from '@restante/contracts'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'

/** How long a token may be on its way between two processes. */
const LIFETIME_SECONDS = 30

/** Header that carries the token of a request which the gateway has admitted. */
export const CALLER_HEADER = 'x-restante-caller'
/** Header that carries the token of a service which calls on its own behalf. */
export const SERVICE_HEADER = 'x-restante-service'

const callerClaims = z.object({ iss: z.literal('gateway'), caller })
const serviceClaims = z.object({ iss: z.enum(SERVICES) })

/** A token that is missing, expired, altered, or made for another service or operation. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

function keyOf(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/** Mints tokens with one service's key. Held by the gateway only (caller tokens), or by one peer (service tokens). */
export class TokenMint {
  readonly #audience: ServiceName
  readonly #key: Uint8Array

  constructor(audience: ServiceName, secret: string) {
    this.#audience = audience
    this.#key = keyOf(secret)
  }

  /** A token for exactly one operation of the audience, saying who is asking. */
  async caller(operation: string, claims: Caller): Promise<string> {
    return this.#sign(operation, { caller: claims }, 'gateway')
  }

  /** A token for one internal operation of the audience, saying which service is asking. */
  async service(operation: string, from: ServiceName): Promise<string> {
    return this.#sign(operation, {}, from)
  }

  #sign(operation: string, claims: Record<string, unknown>, issuer: ServiceName): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(issuer)
      .setAudience(this.#audience)
      .setSubject(operation)
      .setExpirationTime(`${LIFETIME_SECONDS}s`)
      .sign(this.#key)
  }
}

async function verify(token: string, secret: string, audience: ServiceName, operation: string): Promise<unknown> {
  try {
    const { payload } = await jwtVerify(token, keyOf(secret), {
      algorithms: ['HS256'],
      audience,
      subject: operation,
      clockTolerance: 5,
      requiredClaims: ['exp'],
    })
    return payload
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new TokenRefused(error.code, { cause: error })
    throw error
  }
}

/** @throws TokenRefused */
export async function verifyCaller(
  token: string,
  secret: string,
  audience: ServiceName,
  operation: string,
): Promise<Caller> {
  const claims = callerClaims.safeParse(await verify(token, secret, audience, operation))
  if (claims.success) return claims.data.caller
  throw new TokenRefused('the token names no caller', { cause: claims.error })
}

/**
 * @param keys the key that each peer shares with this service: a token must be signed with the key of the peer it names.
 * @throws TokenRefused
 */
export async function verifyService(
  token: string,
  keys: Readonly<Partial<Record<ServiceName, string>>>,
  audience: ServiceName,
  operation: string,
): Promise<ServiceName> {
  for (const [peer, secret] of Object.entries(keys)) {
    const claims = await verify(token, secret, audience, operation).catch((error: unknown) => {
      if (error instanceof TokenRefused) return undefined
      throw error
    })
    const parsed = serviceClaims.safeParse(claims)
    if (parsed.success && parsed.data.iss === peer) return parsed.data.iss
  }
  throw new TokenRefused('no peer of this service signed the token')
}
