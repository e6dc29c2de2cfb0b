import { ApiError } from '@restante/service/errors'

/** The error of `agent_verify`: only an organization, or a key, that waits for its code has something to verify. */
export function nothingToVerify(): ApiError {
  return new ApiError('missing_permission', {
    fix: "'agent_verify' needs an organization key of an agent organization that is not verified yet.",
  })
}
