import type { RdatePeriod } from '@restante/contracts/resources'
import { dateFinder, firstSlotAfter, instantsOf, shiftSlot } from '../../dates/index.ts'
import type { EditedFields, EditRow, EventRow, EventState, Schedule } from '../../model/rows.ts'
import type { Retiming } from './history.ts'

type Lists = Pick<EventRow, 'exdates' | 'rdates' | 'truncate_before'>

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

/** The edits, answers and cancelled dates of a series after its times were changed. */
export function movedDates(
  state: EventState,
  next: EventRow,
  { isMoved, isReplaced, at }: Retiming & { readonly isReplaced: boolean },
): Pick<EventState, 'edits' | 'responses' | 'cancelled'> {
  const { event } = state
  const ran = new Set(state.begun.map(({ slot }) => slot))
  const first = isMoved ? firstSlotAfter(event, at) : undefined
  /** What is about a date that ran stays with it, and so do changes of all later dates from such a one on. */
  const isLeft = (row: { readonly slot: string; readonly mode?: string; readonly end_at?: Date | null }) =>
    ran.has(row.slot) ||
    (row.mode === 'future' && (first === undefined || row.slot < first)) ||
    (row.end_at instanceof Date && row.end_at <= at)
  const place = <Row extends { readonly slot: string }>(rows: readonly Row[]): Row[] => {
    if (!isMoved) return [...rows]
    const left = rows.filter(isLeft)
    const moved = rows
      .filter((row) => !isLeft(row))
      .map((row) => ({ ...row, slot: shiftSlot(row.slot, event.start, next.start) }))
    const taken = new Set(left.map(keyOf))
    return [...left, ...moved.filter((row) => !taken.has(keyOf(row)))]
  }
  const isProduced = producedBy(next)
  const isKept = ({ slot }: { readonly slot: string }) => !isReplaced || ran.has(slot) || isProduced(slot)
  return {
    edits: place(state.edits)
      .filter(isKept)
      .flatMap((edit) => refitted(edit, event, next)),
    responses: place(state.responses).filter(isKept),
    // Its record says of a date that ran that it was taken out, also where the series has a date now.
    cancelled: state.cancelled.filter(({ slot }) => ran.has(slot) || !isProduced(slot)),
  }
}

function keyOf(row: { readonly slot: string; readonly email?: string }): string {
  return `${row.slot} ${row.email ?? ''}`
}

/** Whether a series has a date with some original start, whatever was edited. */
function producedBy(event: EventRow): (slot: string) => boolean {
  const bare = { event: { ...event, history_before: null }, edits: [], begun: [], cancelled: [], responses: [] }
  const find = dateFinder(bare)
  return (slot) => find(slot) !== undefined
}

/** Times of an edit mean nothing in a series of whole days when they had a time of day, and the other way round. */
function refitted(edit: EditRow, before: EventRow, after: EventRow): EditRow[] {
  if (before.all_day === after.all_day) return [edit]
  const { start, duration_mode, duration_value, ...fields } = edit.fields
  return Object.keys(fields).length === 0 ? [] : [{ ...edit, fields: fields satisfies EditedFields }]
}

/**
 * A state whose single edits say where their dates lie now.
 * @param mayDiffer the slots of those that may lie elsewhere than they say.
 */
export function withSpans(state: EventState, mayDiffer: (slot: string) => boolean = () => true): EventState {
  const find = dateFinder(state)
  const edits = state.edits.map((edit) => {
    if (edit.mode === 'future' || !mayDiffer(edit.slot)) return edit
    const { start_at, end_at } = find(edit.slot) ?? instantsOf({ ...state.event, start: edit.slot })
    const isSame = edit.start_at?.getTime() === start_at.getTime() && edit.end_at?.getTime() === end_at.getTime()
    return isSame ? edit : { ...edit, start_at, end_at }
  })
  return { ...state, edits }
}
