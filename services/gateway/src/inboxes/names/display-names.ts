import { invalid } from '@restante/service/errors'
import { looksLike } from './look-alikes.ts'

/**
 * Refuses to give an inbox on a shared domain the installation's own sender name: its mails, such as verification
 * codes, come from the same domain (identity 8.2; decision 0027).
 * @throws ApiError 400 at `display_name`.
 */
export function refuseSystemName(displayName: string | undefined, systemName: string): void {
  if (displayName === undefined || !looksLike(displayName, systemName)) return
  throw invalid(['display_name'], 'Is the sender name of this installation, or looks like it; choose another name')
}
