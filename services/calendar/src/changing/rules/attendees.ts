import type { CreateEventBody } from '@restante/contracts/operations'
import type { Attendee } from '@restante/contracts/resources'
import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { isValidAddress, normalizeAddress } from '@restante/mime'
import { invalid } from '@restante/service/errors'

type GivenAttendees = NonNullable<CreateEventBody['attendees']>

/**
 * Reads a list of attendees (calendar 3.3). A comment that is too long is left out.
 * @throws ApiError 400 at the address that is wrong, or there twice.
 */
export function readAttendees(given: GivenAttendees): Attendee[] {
  const known = new Set<string>()
  return given.map(({ email, name, status, role, comment, responded_at }, index) => {
    const path = ['attendees', index, 'email']
    if (!isValidAddress(email)) throw invalid(path, 'Must be an e-mail address such as user@example.com')
    const normal = normalizeAddress(email)
    if (known.has(normal)) throw invalid(path, 'Must not be the address of another attendee')
    known.add(normal)
    const isShort = comment !== undefined && Buffer.byteLength(comment) <= CALENDAR_LIMITS.comment
    return {
      email: email.toLowerCase(),
      ...(name !== undefined && name !== '' && { name }),
      status: status ?? 'needs_action',
      role: role ?? 'required',
      ...(isShort && comment !== '' && { comment }),
      ...(responded_at !== undefined && { responded_at: new Date(responded_at).toISOString() }),
    }
  })
}
