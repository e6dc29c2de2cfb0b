import { createPublicKey } from 'node:crypto'
import { givenPublicJwk, type PublicJwk } from '@restante/contracts/schemas'

/**
 * A P-256 public key as a browser sends it (apps 4): exactly `kty`, `crv`, `x` and `y`, and a point of the curve.
 * @returns undefined for anything else.
 */
export function readPublicJwk(given: unknown): PublicJwk | undefined {
  const { success, data } = givenPublicJwk.safeParse(given)
  if (!success) return undefined
  const { kty, crv, x, y } = data
  return isOnCurve({ kty, crv, x, y }) ? { kty, crv, x, y } : undefined
}

function isOnCurve(jwk: PublicJwk): boolean {
  try {
    createPublicKey({ key: { ...jwk }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
