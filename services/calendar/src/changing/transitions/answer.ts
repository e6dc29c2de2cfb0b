import type { Attendee } from '@restante/contracts/resources'
import type { AttendeeStatus } from '@restante/contracts/vocabulary'
import type { EventState } from '../../model/rows.ts'
import type { Cause } from './cause.ts'

/** What an attendee, or the inbox itself, has answered. */
export interface Answer {
  /** As it is in the list of attendees. */
  readonly email: string
  /** Absent: about all dates. */
  readonly slot?: string | undefined
  readonly status: AttendeeStatus
  readonly comment?: string | undefined
  readonly respondedAt: Date
}

/**
 * An event with an answer (calendar 9, 16). One about all dates replaces those about single ones; one about a date does
 * not make it an edited date.
 */
export function answer(state: EventState, given: Answer, { at }: Cause): EventState {
  const { event } = state
  const { email, slot, status, comment, respondedAt } = given
  const others = state.responses.filter((row) => row.email !== email || (slot !== undefined && row.slot !== slot))
  if (slot !== undefined) {
    const { id: event_id, inbox_uid, organization_id } = event
    const row = { event_id, slot, email, inbox_uid, organization_id, status, comment: comment ?? null }
    return {
      ...state,
      event: { ...event, edits_revision: event.edits_revision + 1 },
      responses: [...others, { ...row, responded_at: respondedAt }],
    }
  }
  const answered = (attendees: readonly Attendee[]) => attendees.map((each) => answeredBy(each, given))
  return {
    ...state,
    event: { ...event, attendees: answered(event.attendees), revision: event.revision + 1, updated_at: at },
    edits: state.edits.map((edit) => {
      const { attendees } = edit.fields
      if (attendees === undefined) return edit
      return { ...edit, fields: { ...edit.fields, attendees: answered(attendees) } }
    }),
    responses: others,
  }
}

function answeredBy(attendee: Attendee, { email, status, comment, respondedAt }: Answer): Attendee {
  if (attendee.email !== email) return attendee
  const { comment: _, ...rest } = attendee
  return {
    ...rest,
    status,
    ...(comment !== undefined && comment !== '' && { comment }),
    responded_at: respondedAt.toISOString(),
  }
}
