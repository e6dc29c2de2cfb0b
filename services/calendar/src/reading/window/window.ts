import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'

/** The time that a list is about: from `after` on and before `before`. */
export interface Window {
  readonly after: Date
  readonly before: Date
}

/**
 * The window of a request: from now on, and 90 days, unless it says otherwise (calendar 8).
 * @throws ApiError 400 when it ends before it begins, or is wider than 366 days.
 */
export function windowOf(
  { after: asked, before }: { readonly after?: Date | undefined; readonly before?: Date | undefined },
  now: Date,
): Window {
  const { most, default: usual } = CALENDAR_LIMITS.window
  const after = asked ?? now
  const window = { after, before: before ?? new Date(after.getTime() + usual) }
  if (window.before <= after) throw invalid(['before'], 'Must be later than `after`, which is now unless it is given')
  if (window.before.getTime() - after.getTime() > most) {
    throw tooWide('The window must be at most 366 days wide', ['before'])
  }
  return window
}

/** A window with more in it than one answer is made of. */
export function tooWide(message: string, path: (string | number)[] = ['before']): ApiError {
  return new ApiError('query_range_too_wide', { message, errors: [{ path, message }] })
}
