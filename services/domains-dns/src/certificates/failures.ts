import { DecryptionError } from '@restante/service/secrets'
import { AcmeProblemError, AuthorityUnreachableError, ChallengeFailedError } from './authority/errors.ts'

/** Why a certificate could not be had; a label of metrics. */
export const FAILURE_REASONS = [
  'challenge_failed',
  'rate_limited',
  'refused',
  'unreachable',
  'key_unreadable',
  'internal',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** The reason of an error while a certificate was ordered or revoked. */
export function reasonOf(error: unknown): FailureReason {
  if (error instanceof ChallengeFailedError) return 'challenge_failed'
  if (error instanceof AuthorityUnreachableError) return 'unreachable'
  if (error instanceof DecryptionError) return 'key_unreadable'
  if (!(error instanceof AcmeProblemError)) return 'internal'
  return error.type === 'rateLimited' ? 'rate_limited' : 'refused'
}
