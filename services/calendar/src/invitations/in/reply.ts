import { randomUUID } from 'node:crypto'
import type { Attendee } from '@restante/contracts/resources'
import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import type { Tx } from '@restante/service/database'
import { recordResponse } from '../../changing/writes.ts'
import { dateAt } from '../../dates/index.ts'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EventState } from '../../model/rows.ts'
import { cutBytes } from './fields.ts'
import { knownEvent, sameAuthor, slotOf } from './known.ts'
import { type Applied, type Arrival, causeOf, stampOf } from './mail.ts'

/** Applies what an attendee answered about an event of this inbox (calendar 16). */
export async function applyReply(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const { from } = arrival
  const isByAuthor = ({ attendees: [attendee, ...others] }: ReadEvent) =>
    attendee !== undefined && others.length === 0 && sameAuthor(attendee.email, from)
  const [event, ...others] = file.events
  if (event === undefined || others.length > 0) return { ignored: 'invalid' }
  if (!isByAuthor(event)) return { ignored: 'wrong_sender' }
  const known = await knownEvent(tx, arrival, file.uid)
  if (known?.event.source !== 'api') return { ignored: 'unknown_event' }
  return answer(tx, event, known, arrival)
}

async function answer(tx: Tx, event: ReadEvent, state: EventState, arrival: Arrival): Promise<Applied> {
  const slot = state.event.kind === 'single' ? undefined : slotOf(event, state, arrival)
  const date = slot === undefined ? undefined : dateAt(state, slot)
  if (slot !== undefined && date === undefined) return { ignored: 'unknown_date' }
  const attendees = date?.attendees ?? state.event.attendees
  const attendee = attendees.find(({ email }) => sameAuthor(email, arrival.from))
  const status = event.attendees[0]?.status
  if (attendee === undefined || status === undefined) return { ignored: 'not_invited' }
  const respondedAt = stampOf(event, arrival)
  if (isOld(event, state, slot) || isAnsweredSince(attendee, status, respondedAt)) return { ignored: 'outdated' }
  if (slot !== undefined && hasAnsweredTooOften(state, attendee, slot)) return { ignored: 'too_many' }
  const comment = event.comment && cutBytes(event.comment, CALENDAR_LIMITS.comment)
  const given = { email: attendee.email, slot, status, comment, respondedAt }
  const { mail: _, ...cause } = causeOf(event, arrival, randomUUID())
  const after = await recordResponse(tx, arrival.deps, state, given, cause)
  return { calendarEventId: slot === undefined ? after.event.id : datedId(after.event.id, slot) }
}

/** Whether an attendee has answered about as many other dates as a series can have edited ones. */
function hasAnsweredTooOften({ responses }: EventState, { email }: Attendee, slot: string): boolean {
  const others = responses.filter((answer) => answer.email === email && answer.slot !== slot)
  return others.length >= CALENDAR_LIMITS.singleEdits
}

/** Whether an answer is about times that were changed since. A program that names no sequence is believed. */
function isOld({ sequence }: ReadEvent, { event, edits }: EventState, slot: string | undefined): boolean {
  if (sequence === undefined) return false
  const edit = edits.find((one) => one.slot === slot && one.mode === 'single')
  const { start, duration_value } = edit?.fields ?? {}
  const isMoved = start !== undefined || duration_value !== undefined
  return sequence < Math.max(event.time_sequence, isMoved ? (edit?.sequence ?? 0) : 0)
}

/** Whether a later answer is stored, or this very one. */
function isAnsweredSince({ responded_at, status }: Attendee, answered: string, at: Date): boolean {
  if (responded_at === undefined) return false
  const stored = Date.parse(responded_at)
  return stored > at.getTime() || (stored === at.getTime() && status === answered)
}
