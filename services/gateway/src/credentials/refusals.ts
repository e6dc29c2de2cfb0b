import { ApiError, invalid } from '@restante/service'
import type { Grant, Rights } from './grants.ts'

/** The rights of a grant. @throws ApiError 400 or 403 that says why there are none */
export function accept(grant: Grant): Rights {
  switch (grant.outcome) {
    case 'granted':
      return grant.rights
    case 'unrestricted_required':
      throw new ApiError('unrestricted_key_required')
    case 'explicit_required':
      throw invalid(['permissions'], 'Must not be null: a public key lists what it holds')
    case 'escalation':
      throw new ApiError('permission_escalation', {
        fix: `The credential does not hold: ${grant.missing.join(', ')}. Leave these out, or use a key that holds them.`,
      })
    case 'bearer_only':
      throw new ApiError('permission_escalation', {
        message: 'A public key cannot hold this',
        fix: `Leave these out, or use a bearer key for them: ${grant.asked.join(', ')}.`,
      })
  }
}
