import { LIMITS } from '@restante/contracts'
import type { UntrustedSignatureCandidate } from 'http-message-sig'
import { FIXES, refusedSignature } from './refusals.ts'

/** What a signature names, once its form is right. */
export interface Claims {
  readonly keyId: string
  readonly nonce: string
}

/** Visible ASCII, long enough for 16 bytes in base64. */
const NONCE = new RegExp(`^[!-~]{${LIMITS.signature.nonce.min},${LIMITS.signature.nonce.max}}$`)

/**
 * Whether a signature covers enough, and is of the present (identity 2.4). It may cover more. Nothing of it is proved
 * yet: what is checked here only spares the work of verifying what would be refused anyway.
 * @param digested whether there is a body, or a digest of one.
 * @throws ApiError 401
 */
export function demandClaims(candidate: UntrustedSignatureCandidate, digested: boolean, nowMs: number): Claims {
  const needed = ['@method', '@target-uri', ...(digested ? ['content-digest'] : [])]
  if (!needed.every((name) => covers(candidate, name))) throw refusedSignature(FIXES.coverage)
  const { keyid, nonce, created, expires } = candidate.parameters
  if (keyid === undefined || nonce === undefined || created === undefined) throw refusedSignature(FIXES.parameters)
  const late = expires !== undefined && expires * 1_000 < nowMs
  if (late || Math.abs(nowMs - created * 1_000) > LIMITS.signature.window) throw refusedSignature(FIXES.time)
  if (!NONCE.test(nonce)) throw refusedSignature(FIXES.nonceForm)
  return { keyId: keyid, nonce }
}

/** A component with a parameter is another one: `"content-digest";key="sha-256"` is a part of the header only. */
function covers({ components }: UntrustedSignatureCandidate, name: string): boolean {
  return components.some((component) => component.name === name && Object.keys(component.parameters).length === 0)
}
