import { isUuid } from '@restante/contracts/vocabulary'

/** An error that the operator can fix; the message says how, and no stack trace is printed. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An id as the database writes it. @throws UsageError when it is none. */
export function uuid(text: string): string {
  if (isUuid(text)) return text.toLowerCase()
  throw new UsageError(`${text} is not an id (a UUID).`)
}

export function unknownOrganization(id: string): UsageError {
  return new UsageError(`Organization ${id} was not found.`)
}

/** The error for operations that an organization being deleted no longer accepts. */
export function noOrganization(id: string): UsageError {
  return new UsageError(`Organization ${id} was not found, or is being deleted.`)
}
