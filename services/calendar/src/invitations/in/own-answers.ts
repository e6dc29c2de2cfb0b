import type { Attendee } from '@restante/contracts/resources'
import type { EditRow, EventState } from '../../model/rows.ts'
import { sameAuthor } from './known.ts'

/** Attendees of a new version, with what the inbox answered to an earlier one. */
export function withOwnAnswer(
  attendees: readonly Attendee[],
  before: readonly Attendee[],
  address: string,
): readonly Attendee[] {
  const answered = before.find(({ email }) => sameAuthor(email, address))
  if (answered === undefined) return attendees
  const { status, comment, responded_at } = answered
  const answer = {
    status,
    ...(comment !== undefined && { comment }),
    ...(responded_at !== undefined && { responded_at }),
  }
  return attendees.map((attendee) => {
    if (!sameAuthor(attendee.email, address)) return attendee
    const { comment: _, responded_at: __, ...invited } = attendee
    return { ...invited, ...answer }
  })
}

/**
 * A series that gets other times, without what the inbox answered about single dates: of those that follow it, and did not run.
 * @param attendees of the new version.
 */
export function withoutOwnAnswers(state: EventState, attendees: readonly Attendee[], address: string): EventState {
  const ran = new Set(state.begun.map(({ slot }) => slot))
  const asked = ({ slot, fields }: EditRow): EditRow['fields'] => {
    const { attendees: listed, start, duration_value } = fields
    const isKept = ran.has(slot) || (start !== undefined && duration_value !== undefined)
    return listed === undefined || isKept ? fields : { ...fields, attendees: withOwnAnswer(listed, attendees, address) }
  }
  return {
    ...state,
    edits: state.edits.map((edit) => ({ ...edit, fields: asked(edit) })),
    responses: state.responses.filter(({ email, slot }) => ran.has(slot) || !sameAuthor(email, address)),
  }
}
