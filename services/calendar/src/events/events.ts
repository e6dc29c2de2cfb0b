import { topics } from '@restante/contracts/events'
import type { CalendarEvent } from '@restante/contracts/resources'
import { isUuid } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { hashedUuid, type Tx } from '@restante/service/database'
import { boundaryInstant, forBoundary, forEvent } from '../documents/index.ts'
import type { EventRow } from '../model/rows.ts'
import type { PreviousValues } from './previous.ts'

const topic = topics['calendar.events']

/** The event, or the date, that is told of, as its document shows it, and by which operation it was changed. */
export interface Told {
  readonly event: Pick<EventRow, 'id' | 'organization_id' | 'pod_id' | 'inbox_uid'>
  /** Of the inbox. */
  readonly address: string
  readonly document: CalendarEvent
  /** `event_id` on the wire: of the operation or the deletion, or of the boundary. */
  readonly id: string
  readonly at: Date
}

type ChangeType =
  | 'calendar.event.created'
  | 'calendar.event.updated'
  | 'calendar.event.deleted'
  | 'calendar.event.responded'

/**
 * Tells of a change (calendar 17), in its transaction.
 * @param previous earlier values of an event or series; of a date there are none.
 */
export async function tellChange(
  tx: Tx,
  outbox: Outbox,
  type: ChangeType,
  told: Told,
  previous?: PreviousValues,
): Promise<void> {
  const payload = { ...envelope(type, told), calendar_event: forEvent(told.document) }
  const changed = type === 'calendar.event.updated' && previous !== undefined ? { ...payload, previous } : payload
  await outbox.add(tx, topic, topic.event(type, changed, { ...momentOf(told), about: factsOf(told) }))
}

/** Tells that the start or the end of a date was reached (calendar 17); repetitions of it have the same id. */
export async function tellBoundary(
  tx: Tx,
  outbox: Outbox,
  type: 'calendar.event.starting' | 'calendar.event.ending',
  told: Told & { readonly scheduledAt: Date },
): Promise<void> {
  const scheduled_at = boundaryInstant(told.scheduledAt)
  const payload = { ...envelope(type, told), calendar_event: forBoundary(told.document), scheduled_at }
  await outbox.add(tx, topic, topic.event(type, payload, { ...momentOf(told), about: factsOf(told) }))
}

/** Tells mail-ingest that a received mail was applied, and to what (calendar 15). */
export async function tellApplied(
  tx: Tx,
  outbox: Outbox,
  { event, at }: Pick<Told, 'event' | 'at'>,
  applied: { readonly messageId: string; readonly calendarEventId: string },
): Promise<void> {
  const { organization_id, pod_id, inbox_uid } = event
  const payload = {
    organization_id,
    pod_id,
    inbox_uid,
    message_id: applied.messageId,
    calendar_event_id: applied.calendarEventId,
  }
  const about = { organization_id, pod_id, inbox_uid, subject: applied.messageId }
  await outbox.add(tx, topic, topic.event('invitation.applied', payload, { time: at, about }))
}

function envelope<const Type extends string>(event_type: Type, { id, address }: Told) {
  return { type: 'event' as const, event_type, event_id: id, inbox_id: address }
}

function factsOf({ event: { id, organization_id, pod_id, inbox_uid } }: Pick<Told, 'event'>) {
  return { organization_id, pod_id, inbox_uid, subject: id }
}

/** The id of an envelope is a UUID; one that is derived from the id on the wire is the same each time. */
function momentOf({ id, at }: Told): { time: Date; id: string } {
  return { time: at, id: isUuid(id) ? id : hashedUuid(id) }
}
