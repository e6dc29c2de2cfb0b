import { type CallerCredential, holdsPermission, type Permission } from '@restante/contracts/access'
import { ApiError } from '../errors/api-error.ts'

/**
 * Requires a further permission, in addition to that of the operation, because of what a request contains (identity 4.1).
 * @throws ApiError 403 that names the permission.
 */
export function requirePermission(credential: CallerCredential, permission: Permission): void {
  if (holdsPermission(credential, permission)) return
  const fix = `The credential lacks '${permission}', which this request needs because of its content. Use a key that holds it.`
  throw new ApiError('missing_permission', { fix })
}
