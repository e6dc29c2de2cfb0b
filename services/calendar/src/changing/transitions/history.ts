import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { begunRow, datesBetween, firstSlotAfter, shiftSlot } from '../../dates/index.ts'
import type { BegunDateRow, EventRow, EventState } from '../../model/rows.ts'

/** No slot is later. */
const NEVER = { day: '9999-12-31', time: '9999-12-31T23:59:59' }

/** How the times of a series are changed. */
export interface Retiming {
  /** Its start was moved and its rule was not replaced. */
  readonly isMoved: boolean
  /** Other slots than before are its dates. */
  readonly isOtherSlots: boolean
  readonly at: Date
}

/** A slot as the same one of a series that starts so: a day, or that day at the time of the start. */
export function inFormOf(slot: string, start: string): string {
  if (slot.includes('T') === start.includes('T')) return slot
  return slot.slice(0, 10) + start.slice(10)
}

/**
 * Before which slot only dates exist that ran, after the times of a series were changed: an earlier definition made the
 * others. While it makes the same slots, those that were made before it are told apart as they were.
 */
export function historyAfter(
  { event, begun }: EventState,
  next: EventRow,
  { isMoved, isOtherSlots, at }: Retiming,
): string | null {
  if (event.kind === 'single' || next.kind === 'single') return null
  const known = event.history_before
  if (!isOtherSlots) return known
  const hasStarted = event.start_at <= at || begun.length > 0 || known !== null
  if (!hasStarted) return null
  return isMoved ? movedHistory(event, next, at) : latest(firstSlotAfter(next, at), event, next)
}

function movedHistory(event: EventRow, next: EventRow, at: Date): string {
  const first = firstSlotAfter(event, at)
  if (first === undefined) return neverOf(next)
  const live = event.history_before !== null && event.history_before > first ? event.history_before : first
  return live >= neverOf(event) ? neverOf(next) : shiftSlot(live, event.start, next.start)
}

/** Dates that were moved away do not come back with another rule, unless the series starts earlier with it. */
function latest(first: string | undefined, { history_before: known, start }: EventRow, next: EventRow): string {
  if (first === undefined) return neverOf(next)
  // A series whose dates were all over is continued by another rule.
  if (known === null || known >= (start.includes('T') ? NEVER.time : NEVER.day)) return first
  const [history = first] = [inFormOf(known, next.start), shiftSlot(known, start, next.start)].sort()
  return history > first ? history : first
}

function neverOf({ all_day }: EventRow): string {
  return all_day ? NEVER.day : NEVER.time
}

/**
 * The dates of a series that have begun, and those that are over without: made in the past, or cancelled. They get a record
 * of the schedule they had, for as long as one is kept, so that they stay as they were whatever becomes of the series.
 */
export function begunUntil(state: EventState, { isOtherSlots, at }: Retiming): readonly BegunDateRow[] {
  const kept = new Date(at.getTime() - CALENDAR_LIMITS.dateKept)
  const over: BegunDateRow[] = []
  for (const date of datesBetween(state, {
    after: kept,
    before: new Date(at.getTime() + 1),
    includeOverlapping: true,
  })) {
    // One that is cancelled while it would run has no record.
    if (date.begun === undefined && (isOtherSlots || date.end_at <= at)) {
      over.push(begunRow(state.event, date, { state: 'skipped', snapshot: null }))
    }
  }
  return over.length === 0 ? state.begun : [...state.begun, ...over]
}
