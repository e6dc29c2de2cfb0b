import type { Caller } from '@restante/contracts/access'
import type { Attendee } from '@restante/contracts/resources'
import { normalizeAddress } from '@restante/mime'

/** Whether mail leaves the inbox of a request: from a paused one, or of a suspended organization, none does (calendar 1). */
export function leavesInbox({ inbox, sending }: Pick<Caller, 'inbox' | 'sending'>): boolean {
  return inbox?.paused !== true && sending !== 'suspended'
}

/** The attendees who are mailed, and charged for: all but the inbox itself (calendar 14.1). */
export function mailedAttendees(attendees: readonly Attendee[], address: string): Attendee[] {
  const own = normalizeAddress(address)
  return attendees.filter(({ email }) => normalizeAddress(email) !== own)
}
