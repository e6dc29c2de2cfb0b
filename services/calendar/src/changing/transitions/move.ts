import type { RdatePeriod } from '@restante/contracts/resources'
import { dateAt, firstSlotAfter, instantsOf, shiftSlot } from '../../dates/index.ts'
import type { EditedFields, EditRow, EventRow, EventState, Schedule } from '../../model/rows.ts'

type Lists = Pick<EventRow, 'exdates' | 'rdates' | 'truncate_before'>

/** No slot is later. */
const NEVER = { day: '9999-12-31', time: '9999-12-31T23:59:59' }

/** What was added to a series, and taken out of it, after its start was moved: it moves by as much (calendar 6). */
export function movedLists(event: Lists & Schedule, to: Schedule): Lists {
  const shift = (slot: string) => shiftSlot(slot, event.start, to.start)
  return {
    exdates: event.exdates.map(shift),
    rdates: event.rdates.map((rdate) => movedRdate(rdate, shift, to.all_day)),
    truncate_before: event.truncate_before === null ? null : shift(event.truncate_before),
  }
}

function movedRdate(
  rdate: string | RdatePeriod,
  shift: (slot: string) => string,
  allDay: boolean,
): string | RdatePeriod {
  if (typeof rdate === 'string') return shift(rdate)
  if (allDay) return shift(rdate.start)
  return { ...rdate, start: shift(rdate.start), ...(rdate.end !== undefined && { end: shift(rdate.end) }) }
}

/**
 * Before which slot only dates exist that ran, after the times of a series were changed: an earlier definition made the
 * others.
 * @param isMoved whether its start was moved and its rule was not replaced.
 */
export function historyAfter(
  { event, begun }: EventState,
  next: EventRow,
  { isMoved, at }: { readonly isMoved: boolean; readonly at: Date },
): string | null {
  if (event.kind === 'single' || next.kind === 'single') return null
  const hasStarted = event.start_at <= at || begun.length > 0 || event.history_before !== null
  if (!hasStarted) return null
  const never = next.all_day ? NEVER.day : NEVER.time
  if (!isMoved) return firstSlotAfter(next, at) ?? never
  const first = firstSlotAfter(event, at)
  if (first === undefined) return never
  const live = event.history_before !== null && event.history_before > first ? event.history_before : first
  return live >= (event.all_day ? NEVER.day : NEVER.time) ? never : shiftSlot(live, event.start, next.start)
}

/** The edits, answers and cancelled dates of a series after its times were changed. */
export function movedDates(
  state: EventState,
  next: EventRow,
  { isMoved, isReplaced, at }: { readonly isMoved: boolean; readonly isReplaced: boolean; readonly at: Date },
): Pick<EventState, 'edits' | 'responses' | 'cancelled'> {
  const { event } = state
  const ran = new Set(state.begun.map(({ slot }) => slot))
  const first = isMoved ? firstSlotAfter(event, at) : undefined
  /** What is about a date that ran stays with it, and so do changes of all later dates from such a one on. */
  const isLeft = (row: { readonly slot: string; readonly mode?: string }) =>
    ran.has(row.slot) || (row.mode === 'future' && (first === undefined || row.slot < first))
  const place = <Row extends { readonly slot: string }>(rows: readonly Row[]): Row[] => {
    if (!isMoved) return [...rows]
    const left = rows.filter(isLeft)
    const moved = rows
      .filter((row) => !isLeft(row))
      .map((row) => ({ ...row, slot: shiftSlot(row.slot, event.start, next.start) }))
    const taken = new Set(left.map(keyOf))
    return [...left, ...moved.filter((row) => !taken.has(keyOf(row)))]
  }
  const isKept = ({ slot }: { readonly slot: string }) => !isReplaced || ran.has(slot) || isProduced(next, slot)
  return {
    edits: place(state.edits)
      .filter(isKept)
      .flatMap((edit) => refitted(edit, event, next)),
    responses: place(state.responses).filter(isKept),
    cancelled: state.cancelled.filter(({ slot }) => !isProduced(next, slot)),
  }
}

function keyOf(row: { readonly slot: string; readonly email?: string }): string {
  return `${row.slot} ${row.email ?? ''}`
}

/** Whether a series has a date with this original start, whatever was edited. */
export function isProduced(event: EventRow, slot: string): boolean {
  if (event.kind === 'single') return false
  const bare = { event: { ...event, history_before: null }, edits: [], begun: [], cancelled: [], responses: [] }
  return dateAt(bare, slot) !== undefined
}

/** Times of an edit mean nothing in a series of whole days when they had a time of day, and the other way round. */
function refitted(edit: EditRow, before: EventRow, after: EventRow): EditRow[] {
  if (before.all_day === after.all_day) return [edit]
  const { start, duration_mode, duration_value, ...fields } = edit.fields
  return Object.keys(fields).length === 0 ? [] : [{ ...edit, fields: fields satisfies EditedFields }]
}

/** A state whose single edits say where their dates lie now. */
export function withSpans(state: EventState): EventState {
  const edits = state.edits.map((edit) => {
    if (edit.mode === 'future') return edit
    const date = dateAt(state, edit.slot)
    const { start_at, end_at } = date ?? instantsOf({ ...state.event, start: edit.slot })
    const isSame = edit.start_at?.getTime() === start_at.getTime() && edit.end_at?.getTime() === end_at.getTime()
    return isSame ? edit : { ...edit, start_at, end_at }
  })
  return { ...state, edits }
}
