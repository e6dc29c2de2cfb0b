import type { CalendarEvent } from '@restante/contracts/resources'
import { CALENDAR_LIMITS, type EditMode } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import { type CalendarDate, dateAt, datesBetween, lastEndOf } from '../../dates/index.ts'
import { cancelledDate, dateDocument } from '../../documents/index.ts'
import type { EventRow, EventState } from '../../model/rows.ts'
import { nextSequence } from '../../model/sequence.ts'
import type { Cause } from './cause.ts'
import { isStarting } from './due.ts'

export interface DateRemoval {
  readonly slot: string
  readonly mode: EditMode
}

/** Farther than clocks, and dates that were moved, are from their slots. */
const FAR = 800 * 24 * 60 * 60 * 1_000

/** Whether no date of a series starts originally before a slot, so that a series that ends there is none. */
export function isFirstDate(state: EventState, slot: string): boolean {
  const removed = new Set(state.cancelled.map((row) => row.slot))
  if (state.begun.some((row) => row.slot < slot && !removed.has(row.slot))) return false
  const { start_at } = state.event
  const bare = { ...state, edits: [], begun: [], responses: [] }
  const window = { after: new Date(start_at.getTime() - FAR), before: new Date(8.64e15), includeOverlapping: true }
  for (const date of datesBetween(bare, window)) return date.slot >= slot
  return true
}

/**
 * A series without one of its dates, or ended before it (calendar 7). A date that runs gets its end nevertheless.
 * @returns the state, and the document of the date as it is shown from now on.
 * @throws ApiError 409 `event_starting` while the start of one that is taken out is recorded; 400 when too many would be.
 */
export function removeDate(
  state: EventState,
  { slot, mode }: DateRemoval,
  cause: Cause,
): { readonly after: EventState; readonly document: CalendarEvent } {
  const date = dateAt(state, slot)
  if (date === undefined) throw new ApiError('event_expired')
  const { event } = state
  const concerns = (other: string) => (mode === 'single' ? other === slot : other >= slot)
  if (isStarting(state, cause.at, concerns)) throw new ApiError('event_starting')
  if (mode === 'single' && event.exdates.length >= CALENDAR_LIMITS.exdates) {
    throw invalid(['event_id'], `At most ${CALENDAR_LIMITS.exdates} dates can be taken out of a series`)
  }
  // Those of what another organizes are its organizer's.
  const sequence = nextSequence(event.sequence)
  const sequences = event.source === 'email' ? {} : { sequence, time_sequence: sequence }
  const changed: EventRow = {
    ...event,
    ...(mode === 'single' ? { exdates: [...event.exdates, slot] } : { truncate_before: slot, truncated_at: cause.at }),
    ...sequences,
    revision: event.revision + 1,
    ...(!isStarting(state, cause.at) && { seen_until: cause.at }),
    updated_at: cause.at,
  }
  const document = documentOf({ ...state, event: changed }, date, cause)
  const isLeft = (row: { readonly slot: string }) => (mode === 'single' ? row.slot !== slot : row.slot < slot)
  const edits = state.edits.filter((edit) => isLeft(edit) || (mode === 'single' && edit.mode === 'future'))
  const cancelled = [...state.cancelled, ...rowsOf(state, changed, { slot, mode }, cause)]
  return {
    document,
    after: {
      ...state,
      event: { ...changed, last_end_at: lastEndOf(changed, edits) },
      edits,
      responses: state.responses.filter(isLeft),
      cancelled,
    },
  }
}

function documentOf(state: EventState, date: CalendarDate, { address }: Cause): CalendarEvent {
  return cancelledDate(dateDocument(state, date, { address, etag: false }))
}

/**
 * What is kept of dates that were taken out: one that was taken out alone, and all that run. Their records stay, and the end of
 * the series, from which it would follow as well that they are gone, moves with it.
 */
function rowsOf(
  state: EventState,
  event: EventRow,
  { slot, mode }: DateRemoval,
  cause: Cause,
): EventState['cancelled'][number][] {
  const running = state.begun.filter((row) => row.slot >= slot && row.end_at > cause.at).map((row) => row.slot)
  return (mode === 'single' ? [slot] : running).flatMap((each) => {
    const date = dateAt(state, each)
    return date === undefined ? [] : [rowOf(event, each, documentOf({ ...state, event }, date, cause), cause)]
  })
}

function rowOf(event: EventRow, slot: string, document: CalendarEvent, { at }: Cause): EventState['cancelled'][number] {
  const { id: event_id, inbox_uid, organization_id } = event
  return { event_id, slot, inbox_uid, organization_id, document, cancelled_at: at }
}
