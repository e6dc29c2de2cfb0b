import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'

/** A code, and everything by which its app exchanges it. */
export const exchange = z.object({
  clientId: z.string(),
  clientSecret: z.string(),
  redirectUri: z.url(),
  code: z.string(),
  verifier: z.string(),
})
export type Exchange = z.infer<typeof exchange>

/** A verifier and its S256 challenge (RFC 7636 4). */
export function newVerifier(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
