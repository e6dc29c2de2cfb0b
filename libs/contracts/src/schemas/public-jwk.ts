import { z } from 'zod'
import { refused } from './text.ts'

/** 32 bytes in unpadded base64url; the last character has two unused bits, which are zero. */
const COORDINATE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

const coordinate = z
  .string()
  .regex(COORDINATE, { error: 'Must be 32 bytes in base64url without padding: 43 characters' })

/** A public P-256 key (RFC 7517). */
export const publicJwk = z
  .object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate })
  .meta({ id: 'PublicJwk' })
export type PublicJwk = z.infer<typeof publicJwk>

/**
 * A public key as given, with exactly these members: private parts and key ids are refused at their names. Whether the
 * point is on the curve is checked where it can be computed (identity 3.3).
 */
export const givenPublicJwk = publicJwk.catchall(refused('A public key has no members but kty, crv, x and y'))
