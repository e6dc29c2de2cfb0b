import { type CallerCredential, type Channel, type EventType, missingForEventTypes } from '@restante/contracts/access'
import { ApiError } from '../errors/api-error.ts'

/**
 * Throws for the first event type that a credential may not subscribe to (events 4).
 * @throws ApiError 403 with the message `<permission> is forbidden`.
 */
export function requireEventTypes(credential: CallerCredential, types: readonly EventType[], channel: Channel): void {
  const missing = missingForEventTypes(credential, types, channel)
  if (missing === undefined) return
  throw new ApiError('missing_permission', {
    message: `${missing} is forbidden`,
    fix: `Use a key that has ${missing}, or omit that event type.`,
  })
}
