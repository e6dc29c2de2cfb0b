import { normalizeAddress } from '@restante/mime'
import { dateAt } from '../../dates/index.ts'
import { sequenceOf } from '../../documents/date.ts'
import { answerComponent, calendarObject } from '../../icalendar/write/index.ts'
import type { PlannedMail, SentChange } from './change.ts'
import { answerLine, textOf, toldDate, toldEvent } from './text.ts'

/** The mail with which the inbox answers the organizer of an event (calendar 9); none where nobody is known as such. */
export function answerOf(change: Extract<SentChange, { readonly kind: 'reply' }>): PlannedMail[] {
  const { state, slot, status, comment, address, displayName } = change
  const { event } = state
  const date = slot === undefined ? undefined : dateAt(state, slot)
  if (event.organizer_email === null || (slot !== undefined && !date)) return []
  const attendees = date?.attendees ?? event.attendees
  const own = attendees.find(({ email }) => normalizeAddress(email) === normalizeAddress(address))
  const told = date ? toldDate(date) : toldEvent(event)
  const first = answerLine(displayName ?? address, status, event.kind === 'series' && !date)
  const text = textOf({ ...told, description: comment ?? null }, first)
  const component = answerComponent(state, date, change, {
    sequence: date ? sequenceOf(state, date) : event.sequence,
    own: { ...own, email: address, status, role: own?.role ?? 'required' },
    comment,
  })
  return [
    {
      event_id: event.id,
      inbox_uid: event.inbox_uid,
      organization_id: event.organization_id,
      address,
      recipient: normalizeAddress(event.organizer_email),
      recipient_name: null,
      about: 'answer',
      title: told.title,
      text,
      method: 'REPLY',
      calendar: calendarObject('REPLY', [component]),
      only_invited: false,
      in_reply_to: event.origin_message_id,
    },
  ]
}
