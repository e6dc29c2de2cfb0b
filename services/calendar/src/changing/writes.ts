import type { CalendarEvent } from '@restante/contracts/resources'
import type { Schedule } from '@restante/jobs'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { dateAt } from '../dates/index.ts'
import { dateDocument, eventDocument } from '../documents/index.ts'
import { previousValues, tellChange } from '../events/index.ts'
import type { EventState } from '../model/rows.ts'
import { deleteEventRow, saveState, touchCalendar } from '../store/index.ts'
import { scheduleBoundary } from '../timers/boundary.ts'
import type { CalendarTimers } from '../timers/kinds.ts'
import {
  type Answer,
  answer,
  type Cause,
  changeEvent,
  type DateEdit,
  type DateRemoval,
  type EventChange,
  editDate as edited,
  type NewEvent,
  newEvent,
  removeDate as removed,
} from './transitions/index.ts'

export type { Answer, Cause, DateEdit, DateRemoval, EventChange, MailCause, NewEvent } from './transitions/index.ts'

/** What every write needs. Those of an event that exists are made under its lock, with its state as it is stored. */
export interface WriteDeps {
  readonly outbox: Outbox
  readonly timers: Schedule<CalendarTimers>
  /** One more event of a calendar is refused. */
  readonly mostEvents: number
}

/**
 * Stores a new event, and tells of it.
 * @throws ApiError 409 `race_condition` when the calendar has as many events as it may.
 */
export async function createEvent(tx: Tx, deps: WriteDeps, given: NewEvent, cause: Cause): Promise<EventState> {
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, inbox_created_at: createdAt } = given
  const owner = { organizationId, podId, inboxUid, address: cause.address, createdAt }
  const { event_count } = await touchCalendar(tx, owner, 1)
  if (event_count > deps.mostEvents) {
    throw new ApiError('race_condition', { message: `A calendar has at most ${deps.mostEvents} events`, retry: false })
  }
  const state = newEvent(given, cause)
  await saveState(tx, undefined, state)
  await scheduleBoundary(tx, deps.timers, state, cause.at)
  await tell(tx, deps, 'calendar.event.created', state, cause)
  return state
}

/**
 * Changes a one-off or series, and tells of it.
 * @param after the state with the change, when it was made already.
 * @throws ApiError 409 `event_starting`
 */
export async function updateEvent(
  tx: Tx,
  deps: WriteDeps,
  before: EventState,
  change: EventChange,
  cause: Cause,
  after: EventState = changeEvent(before, change, cause),
): Promise<EventState> {
  await saveState(tx, before, after)
  await scheduleBoundary(tx, deps.timers, after, cause.at)
  const options = { address: cause.address, etag: false }
  const previous = previousValues(eventDocument(before, options), eventDocument(after, options))
  await tell(tx, deps, 'calendar.event.updated', after, cause, { previous })
  return after
}

/**
 * Changes one date, or one and all later ones, and tells of it.
 * @param after the state with the change, when it was made already.
 * @throws ApiError 410 when the series has no such date; 409 `event_in_progress`; 400 for too many edits.
 */
export async function editDate(
  tx: Tx,
  deps: WriteDeps,
  before: EventState,
  edit: DateEdit,
  cause: Cause,
  after: EventState = edited(before, edit, cause),
): Promise<EventState> {
  await saveState(tx, before, after)
  await scheduleBoundary(tx, deps.timers, after, cause.at)
  await tellEdit(tx, deps, { before, after }, edit, cause)
  return after
}

/** Tells of the edit of a date, of its first one as of something new (calendar 17). */
export async function tellEdit(
  tx: Tx,
  deps: WriteDeps,
  { before, after }: { readonly before: EventState; readonly after: EventState },
  edit: DateEdit,
  cause: Cause,
): Promise<void> {
  const isNew = edit.mode === 'single' && !before.edits.some(({ slot }) => slot === edit.slot)
  const isFirst = isNew && edit.isToldAsChange !== true
  await tell(tx, deps, isFirst ? 'calendar.event.created' : 'calendar.event.updated', after, cause, edit)
}

/**
 * Takes a date out of its series, or ends the series before it, and tells of it.
 * @returns the state, and the document of the date, without its etag.
 * @throws ApiError 410 when the series has no such date; 400 when too many dates would be taken out.
 */
export async function removeDate(
  tx: Tx,
  deps: WriteDeps,
  before: EventState,
  removal: DateRemoval,
  cause: Cause,
): Promise<{ readonly after: EventState; readonly document: CalendarEvent }> {
  const { after, document } = removed(before, removal, cause)
  await saveState(tx, before, after)
  await scheduleBoundary(tx, deps.timers, after, cause.at)
  await tell(tx, deps, 'calendar.event.updated', after, cause, { document })
  return { after, document }
}

/** Deletes an event with all that belongs to it, and tells of it. */
export async function deleteEvent(tx: Tx, deps: WriteDeps, before: EventState, cause: Cause): Promise<void> {
  const { id, organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid } = before.event
  await tell(tx, deps, 'calendar.event.deleted', before, cause)
  await deleteEventRow(tx, inboxUid, id)
  await touchCalendar(tx, { organizationId, podId, inboxUid, address: cause.address }, -1)
  await deps.timers.cancel(tx, 'boundary', id)
}

/** Records an answer, and tells of it. Sequences stay as they are (calendar 14.3). */
export async function recordResponse(
  tx: Tx,
  deps: WriteDeps,
  before: EventState,
  given: Answer,
  cause: Cause,
): Promise<EventState> {
  const after = answer(before, given, cause)
  await saveState(tx, before, after)
  await tell(tx, deps, 'calendar.event.responded', after, cause, given)
  return after
}

interface About {
  /** Of a date; absent: the event. */
  readonly slot?: string | undefined
  /** In place of that of the state. */
  readonly document?: CalendarEvent
  readonly previous?: ReturnType<typeof previousValues>
}

async function tell(
  tx: Tx,
  { outbox }: WriteDeps,
  type: Parameters<typeof tellChange>[2],
  state: EventState,
  { operationId: id, at, address }: Cause,
  { slot, document, previous }: About = {},
): Promise<void> {
  const shown = document ?? documentOf(state, slot, address)
  await tellChange(tx, outbox, type, { event: state.event, address, document: shown, id, at }, previous)
}

function documentOf(state: EventState, slot: string | undefined, address: string): CalendarEvent {
  const options = { address, etag: false }
  const date = slot === undefined ? undefined : dateAt(state, slot)
  return date === undefined ? eventDocument(state, options) : dateDocument(state, date, options)
}
