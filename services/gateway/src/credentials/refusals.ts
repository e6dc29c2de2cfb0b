import { ApiError, invalid } from '@restante/service/errors'
import type { Rights } from '../identity/rights.ts'
import type { Grant } from './grants.ts'

/** The remedy. Which keys are unrestricted is visible in their records only, whatever way they were created. */
const UNRESTRICTED = {
  open: `Set 'permissions' to an object of the permissions that the key needs, instead of null; or use an unrestricted key: in GET /v0/api-keys its record has no 'permissions'.`,
  narrow: `The key to be changed is unrestricted. Use an unrestricted key for it: in GET /v0/api-keys its record has no 'permissions'.`,
} as const

/** The rights of a grant. @throws ApiError 400 or 403 that says why there are none */
export function accept(grant: Grant): Rights {
  switch (grant.outcome) {
    case 'granted':
      return grant.rights
    case 'unrestricted_required':
      throw new ApiError('unrestricted_key_required', { fix: UNRESTRICTED[grant.to] })
    case 'explicit_required':
      throw invalid(['permissions'], 'Must not be null: a public key lists what it holds')
    case 'escalation':
      throw new ApiError('permission_escalation', {
        fix: `The credential does not hold: ${grant.missing.join(', ')}. Leave these out, or use a key that holds them.`,
      })
    case 'not_for_sign_in':
      throw new ApiError('forbidden', {
        fix: 'A sign-in key holds app_connect and app_share_owner only. Leave the others out.',
      })
    case 'bearer_only':
      throw new ApiError('permission_escalation', {
        message: 'A public key cannot hold this',
        fix: `Leave these out, or use a bearer key for them: ${grant.asked.join(', ')}.`,
      })
  }
}
