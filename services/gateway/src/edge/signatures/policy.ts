import { LIMITS } from '@restante/contracts/vocabulary'
import type { UntrustedSignatureCandidate } from 'http-message-sig'
import { FIXES, refusedSignature } from './refusals.ts'

/** The parameters of a signature whose form is valid. */
export interface Claims {
  readonly keyId: string
  readonly nonce: string
}

/** Visible ASCII, long enough for 16 bytes in base64. */
const NONCE = new RegExp(`^[!-~]{${LIMITS.signature.nonce.min},${LIMITS.signature.nonce.max}}$`)

/**
 * Whether a signature covers enough, and is recent (identity 2.4). It may cover more. Nothing of it is proved yet:
 * these checks only avoid verifying signatures that would be refused anyway.
 * @param digested whether there is a body, or a digest of one.
 * @throws ApiError 401
 */
export function requireClaims(candidate: UntrustedSignatureCandidate, digested: boolean, nowMs: number): Claims {
  const needed = ['@method', '@target-uri', ...(digested ? ['content-digest'] : [])]
  if (!needed.every((name) => covers(candidate, name))) throw refusedSignature(FIXES.coverage)
  const { keyid, nonce, created, expires } = candidate.parameters
  if (keyid === undefined || nonce === undefined || created === undefined) throw refusedSignature(FIXES.parameters)
  const late = expires !== undefined && expires * 1_000 < nowMs
  if (late || Math.abs(nowMs - created * 1_000) > LIMITS.signature.window) throw refusedSignature(FIXES.time)
  if (!NONCE.test(nonce)) throw refusedSignature(FIXES.nonceForm)
  return { keyId: keyid, nonce }
}

/** A component with a parameter is a different one: `"content-digest";key="sha-256"` is only a part of the header. */
function covers({ components }: UntrustedSignatureCandidate, name: string): boolean {
  return components.some((component) => component.name === name && Object.keys(component.parameters).length === 0)
}
