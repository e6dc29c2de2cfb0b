import { createPublicKey, type KeyObject } from 'node:crypto'
import type { PublicJwk } from '@restante/contracts/schemas'
import { invalid } from '@restante/service/errors'
import { calculateJwkThumbprint } from 'jose'
import { z } from 'zod'

const jwk = z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() })

/** Columns of a public key in addition to those of all credentials. */
const registered = z.object({
  publicKey: jwk,
  fingerprint: z.string(),
  createdBy: z.string(),
})

/** @throws ZodError for a row of another family, which is a defect. */
export function registeredKey(row: { readonly [Column in keyof z.infer<typeof registered>]: unknown }) {
  return registered.parse(row)
}

/** The key of an active sign-in key. Undefined: not proven yet. @throws ZodError as above. */
export function provenKey(row: { readonly signInKey: unknown; readonly signInFingerprint: string | null }) {
  const { signInKey, signInFingerprint: fingerprint } = row
  return fingerprint === null ? undefined : { publicKey: jwk.parse(signInKey), fingerprint }
}

/**
 * The RFC 7638 thumbprint of a JWK whose form was checked.
 * @throws ApiError 400 at `public_key.y` where the point is not on the curve P-256 (identity 3.3)
 */
export async function fingerprintOf({ kty, crv, x, y }: PublicJwk): Promise<string> {
  const jwk = { kty, crv, x, y }
  if (keyObjectOf(jwk) === undefined) throw invalid(['public_key', 'y'], 'x and y are not a point on the curve P-256')
  return calculateJwkThumbprint(jwk)
}

/** The key in the form used for verification; undefined where there is no such point on the curve. */
export function keyObjectOf(jwk: PublicJwk): KeyObject | undefined {
  try {
    return createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return undefined
  }
}
