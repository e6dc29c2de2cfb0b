import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import { isSignatureError, type SignatureErrorCode } from 'http-message-sig'

const WINDOW_SECONDS = LIMITS.signature.window / 1_000

/**
 * The remedies for a signature that is not valid: they name the failed check, and nothing that only the holder of the
 * key should know. An unknown key and a wrong signature get the same answer.
 */
export const FIXES = {
  form: 'Send Signature-Input and Signature as RFC 9421 defines them, once each, with one signature called sig1.',
  authorization: 'A signed request carries no Authorization header. Send either the key or the signature.',
  coverage:
    'Cover "@method" and "@target-uri", and "content-digest" where there is a body or that header, each without parameters.',
  size: `Send a Signature-Input of at most ${LIMITS.signature.header} characters and ${LIMITS.signature.labels} signatures, and cover at most ${LIMITS.signature.components} components with each.`,
  parameters: 'Give created, keyid and nonce; alg may only be ecdsa-p256-sha256.',
  time: `Set created to the present: it may differ from this server's clock by ${WINDOW_SECONDS} s; expires must not be past.`,
  nonceForm: `Make the nonce of at least 16 random bytes: ${LIMITS.signature.nonce.min} to ${LIMITS.signature.nonce.max} characters.`,
  nonceUsed: 'Create a new nonce and a new signature for each request, also for a repetition.',
  digest: 'Send a Content-Digest (RFC 9530) of exactly the bytes of the body, with sha-256 or sha-512.',
} as const

export function refusedSignature(fix: string, cause?: unknown): ApiError {
  return new ApiError('unauthorized', { message: 'The signature of the request was not accepted', fix, cause })
}

/** @param bases the allowed beginnings of the signed target. */
export function refusedBySignature(bases: readonly string[], cause?: unknown): ApiError {
  const where = `The target must begin with ${bases.join(' or ')}, and the rest be as it was sent.`
  return refusedSignature(
    `It is not a signature of this request by the registered key that keyid names. ${where} A signature is 64 bytes, r and s side by side, and not DER.`,
    cause,
  )
}

const BY_CODE: Readonly<Partial<Record<SignatureErrorCode, string>>> = {
  MissingField: FIXES.form,
  MalformedField: FIXES.form,
  LabelRequired: FIXES.form,
  LabelMismatch: FIXES.form,
  DuplicateLabel: FIXES.form,
  InvalidComponent: FIXES.coverage,
  DuplicateComponent: FIXES.coverage,
  UnsupportedFeature: FIXES.coverage,
  AlgorithmMismatch: FIXES.parameters,
  // Of the library's policies, only the algorithm is used.
  PolicyViolation: FIXES.parameters,
}

/** An error of the library as the caller gets to read it; an error of the key look-up is rethrown. */
export function explained(error: unknown): unknown {
  if (!isSignatureError(error)) return error
  if (error.code === 'ResolverFailed') return error.cause
  return refusedSignature(BY_CODE[error.code] ?? FIXES.form, error)
}
