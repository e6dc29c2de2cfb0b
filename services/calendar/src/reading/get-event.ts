import type { CalendarEvent } from '@restante/contracts/resources'
import type { Database } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { type CalendarDate, dateAt, slotState, truncatedDateAt } from '../dates/index.ts'
import { cancelledDate, dateDocument, etagOfDate, eventDocument } from '../documents/index.ts'
import { readEventId } from '../model/dated-id.ts'
import type { EventState } from '../model/rows.ts'
import { loadWhole, loadWholeEvent } from './store/events.ts'
import type { CalendarInbox } from './store/inbox.ts'

/**
 * An event, or one date of a series (calendar 8).
 * @throws ApiError 404 for what never was, or was deleted with its event; 410 for a date of more than 30 days ago.
 */
export async function getEvent(db: Database, inbox: CalendarInbox, id: string): Promise<CalendarEvent> {
  const reference = readEventId(id)
  if (reference === undefined) throw notFound('Event')
  const { eventId, slot } = reference
  if (slot !== undefined) return getDate(db, inbox, { eventId, slot })
  const event = await loadWholeEvent(db, inbox.uid, eventId)
  if (event === undefined) throw notFound('Event')
  return eventDocument({ event }, { address: inbox.address, etag: true })
}

async function getDate(
  db: Database,
  inbox: CalendarInbox,
  wanted: { readonly eventId: string; readonly slot: string },
): Promise<CalendarEvent> {
  const { eventId, slot } = wanted
  const states = await db.transaction((tx) => loadWhole(tx, inbox.uid, [wanted]), { isolation: 'repeatable read' })
  const state = states.get(eventId)
  if (state === undefined || state.event.kind === 'single') throw notFound('Event')
  const options = { address: inbox.address, etag: true }
  const found = slotState(state, slot, new Date())
  switch (found) {
    case 'none':
      throw notFound('Event')
    case 'expired':
      throw new ApiError('event_expired')
    case 'removed':
      return { ...removedDate(state, slot, inbox.address), etag: etagOfDate(state, slot) }
    case 'live':
      return dateDocument(state, required(dateAt(state, slot)), options)
    default:
      throw new Error(`unknown state ${found satisfies never}`)
  }
}

/** A date that was deleted, alone or with all later ones, as it is shown for a month. */
function removedDate(state: EventState, slot: string, address: string): CalendarEvent {
  const stored = state.cancelled.find((row) => row.slot === slot)
  // It was stored as a document of this type, when the date was deleted.
  if (stored) return stored.document as CalendarEvent
  return cancelledDate(dateDocument(state, required(truncatedDateAt(state, slot)), { address, etag: false }))
}

/** @throws Error: a date whose state is known can be computed. */
function required(date: CalendarDate | undefined): CalendarDate {
  if (date === undefined) throw new Error('the state of a date is known, and it has none')
  return date
}
