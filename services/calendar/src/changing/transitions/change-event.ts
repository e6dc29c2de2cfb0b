import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '@restante/service/errors'
import { instantsOf, lastEndOf } from '../../dates/index.ts'
import type { BegunDateRow, EventRow, EventState } from '../../model/rows.ts'
import { boundedSequence, nextSequence } from '../../model/sequence.ts'
import type { Cause, EventChange } from './cause.ts'
import { isStarting } from './due.ts'
import { begunUntil, historyAfter, inFormOf, type Retiming } from './history.ts'
import { movedDates, movedLists, withSpans } from './move.ts'

const LENGTH = ['all_day', 'start', 'timezone', 'duration_mode', 'duration_value'] as const
const RECURRENCE = ['rule', 'exdates', 'rdates', 'truncate_before'] as const
/** Changes of these make a series have dates of other slots. */
const SLOTS = ['all_day', 'start', ...RECURRENCE] as const
const TEXTS = ['title', 'description', 'location'] as const
const TIMES = [...LENGTH, ...RECURRENCE] as const
/** Changes of these are to be seen by attendees (calendar 14.3). */
const VISIBLE = [...TIMES, ...TEXTS, 'status', 'attendees'] as const
const ALL = [...VISIBLE, 'metadata'] as const

/** The event of a change, without what follows from its new values. */
function merged(event: EventRow, change: EventChange): EventRow {
  const schedule = { ...event, ...change }
  const isMoved = change.rule === undefined && event.rule !== null && isStartMoved(event, schedule)
  const next = { ...schedule, ...(isMoved ? movedLists(event, schedule) : keptEnd(event, schedule)) }
  const isSeries = next.rule !== null
  return {
    ...next,
    ...instantsOf(next),
    kind: isSeries ? 'series' : 'single',
    ...(!isSeries && { exdates: [], rdates: [], truncate_before: null, truncated_at: null }),
  }
}

/** Where a series ends that was ended before, when its rule is replaced: it stays there (calendar 6). */
export function keptEnd(
  { truncate_before: end }: Pick<EventRow, 'truncate_before'>,
  { start }: Pick<EventRow, 'start'>,
): Pick<EventRow, 'truncate_before'> {
  return { truncate_before: end === null ? null : inFormOf(end, start) }
}

export function isStartMoved(
  before: Pick<EventRow, 'start' | 'all_day'>,
  after: Pick<EventRow, 'start' | 'all_day'>,
): boolean {
  return before.start !== after.start || before.all_day !== after.all_day
}

/** What a change changes: nothing, what is said of an event, or when it takes place (calendar 6). */
export function effectOf(event: EventRow, change: EventChange): 'none' | 'descriptive' | 'times' {
  const next = merged(event, change)
  const differs = (name: (typeof ALL)[number]) => !isDeepStrictEqual(event[name], next[name])
  if ([...TIMES, 'status' as const].some(differs)) return 'times'
  return ALL.some(differs) ? 'descriptive' : 'none'
}

/**
 * A one-off or series after a change. Dates that have started stay as they ran; of a one-off the end of a running one
 * moves.
 * @throws ApiError 409 `event_starting` while the start of a date is recorded.
 */
export function changeEvent(state: EventState, change: EventChange, cause: Cause): EventState {
  const { event } = state
  const { at, mail } = cause
  const next = merged(event, change)
  const differs = (name: (typeof ALL)[number]) => !isDeepStrictEqual(event[name], next[name])
  const isRetimed = [...TIMES, 'status' as const].some(differs)
  // Those of what another organizes are its organizer's: a local change would make the next version an outdated one.
  const isRaised = mail !== undefined || (event.source !== 'email' && VISIBLE.some(differs))
  const raised = mail === undefined ? nextSequence(event.sequence) : boundedSequence(mail.sequence)
  const sequence = isRaised ? raised : event.sequence
  const changed: EventRow = {
    ...next,
    sequence,
    time_sequence: isRaised && TIMES.some(differs) ? sequence : event.time_sequence,
    ...(mail && { origin_message_id: mail.message_id, stamped_at: mail.stamped_at }),
    revision: event.revision + 1,
    updated_at: at,
  }
  const replaced = replacedAttendees({ ...state, event: changed })
  return isRetimed ? retimed(state, replaced, change, at) : replaced
}

function retimed(before: EventState, after: EventState, change: EventChange, at: Date): EventState {
  if (before.event.kind === 'series' && isStarting(before, at)) throw new ApiError('event_starting')
  const isReplaced = change.rule !== undefined
  const isMoved = !isReplaced && isStartMoved(before.event, after.event)
  const isOtherSlots = SLOTS.some((name) => !isDeepStrictEqual(before.event[name], after.event[name]))
  const how = { isMoved, isReplaced, isOtherSlots, at }
  const event = { ...after.event, history_before: historyAfter(before, after.event, how), seen_until: at }
  const dates = datesOf(after, before, event, how)
  const placed = withSpans({ ...after, ...dates, event })
  return { ...placed, event: { ...event, last_end_at: lastEndOf(event, placed.edits) } }
}

function datesOf(
  after: EventState,
  before: EventState,
  event: EventRow,
  how: Retiming & { readonly isReplaced: boolean },
): Omit<EventState, 'event'> {
  if (before.event.kind === 'series' && event.kind === 'series') {
    const begun = begunUntil(before, how)
    return { begun, ...movedDates({ ...before, begun, responses: after.responses }, event, how) }
  }
  const none = { edits: [], responses: [], cancelled: [] }
  const [from, to] = [before.event, event].map(({ kind, start }) => (kind === 'single' ? '' : start))
  // What of a series ran beside its first date has no place in a one-off.
  const begun = before.begun.filter(({ slot }) => slot === from).map((row) => ({ ...row, slot: to ?? '' }))
  return { ...none, begun: event.kind === 'single' ? begun.flatMap((row) => begunLike(row, event)) : begun }
}

/** A one-off that runs ends as the event says by now. One that is over, and lies elsewhere by now, has not begun again. */
function begunLike(row: BegunDateRow, event: EventRow): BegunDateRow[] {
  const { all_day, start, timezone, duration_mode, duration_value, start_at, end_at, status } = event
  if (row.state === 'running') {
    return [{ ...row, all_day, start, timezone, duration_mode, duration_value, start_at, end_at, status }]
  }
  const isSame = row.start_at.getTime() === start_at.getTime() && row.end_at.getTime() === end_at.getTime()
  return isSame ? [row] : []
}

/** Answers of those who are not invited to any date any more are forgotten. */
function replacedAttendees(state: EventState): EventState {
  if (state.responses.length === 0) return state
  const lists = [state.event.attendees, ...state.edits.map(({ fields }) => fields.attendees ?? [])]
  const invited = new Set(lists.flatMap((attendees) => attendees.map(({ email }) => email)))
  return { ...state, responses: state.responses.filter(({ email }) => invited.has(email)) }
}
