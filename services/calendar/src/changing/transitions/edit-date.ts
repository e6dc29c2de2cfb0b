import { isDeepStrictEqual } from 'node:util'
import { CALENDAR_LIMITS, type EditMode } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import type { CalendarDate } from '../../dates/index.ts'
import { dateAt, instantsOf, lastEndOf } from '../../dates/index.ts'
import { sequenceOf } from '../../documents/index.ts'
import type { BegunDateRow, EditedFields, EditRow, EventState } from '../../model/rows.ts'
import { boundedSequence, nextSequence } from '../../model/sequence.ts'
import type { Cause } from './cause.ts'
import { isStarting } from './due.ts'
import { withSpans } from './move.ts'

export interface DateEdit {
  readonly slot: string
  readonly mode: EditMode
  /** Checked; null clears. */
  readonly fields: EditedFields
  /** Attendees are told of it: then its sequence grows (calendar 14.3). */
  readonly isSent?: boolean | undefined
  /** It is told as a change, also the first one of its date: of a cancellation that was mailed (calendar 15). */
  readonly isToldAsChange?: boolean | undefined
}

const TIMES = ['start', 'duration_mode', 'duration_value', 'status'] as const

/** What an edit changes of its date: nothing, what is said of it, or when it takes place. */
export function effectOfEdit(date: CalendarDate, fields: EditedFields): 'none' | 'descriptive' | 'times' {
  const names = Object.keys(fields) as (keyof EditedFields)[]
  const differs = (name: keyof EditedFields) =>
    fields[name] !== undefined && !isDeepStrictEqual(fields[name], date[name])
  if (TIMES.some((name) => differs(name))) return 'times'
  return names.some(differs) ? 'descriptive' : 'none'
}

/**
 * A series after a change of one of its dates, or of one and all later ones (calendar 11). Of a running date the end and
 * the status change.
 * @throws ApiError 409 `event_in_progress` where the date was edited in the other mode; 400 for too many edits.
 */
export function editDate(state: EventState, { slot, mode, fields, isSent }: DateEdit, cause: Cause): EventState {
  const date = dateAt(state, slot)
  if (date === undefined) throw new ApiError('event_expired')
  const { event } = state
  const { at, mail } = cause
  const stored = state.edits.find((edit) => edit.slot === slot)
  if (stored !== undefined && stored.mode !== mode) throw new ApiError('event_in_progress')
  if (stored === undefined) checkNumber(state, mode)
  const isOwn = event.source !== 'email'
  const sent = isSent && isOwn ? nextSequence(sequenceOf(state, date)) : (stored?.sequence ?? 0)
  const edit: EditRow = {
    event_id: event.id,
    slot,
    mode,
    inbox_uid: event.inbox_uid,
    organization_id: event.organization_id,
    fields: { ...stored?.fields, ...fields },
    revision: stored === undefined ? 0 : stored.revision + 1,
    sequence: mail === undefined ? sent : boundedSequence(mail.sequence),
    stamped_at: mail?.stamped_at ?? stored?.stamped_at ?? null,
    start_at: null,
    end_at: null,
    created_at: stored?.created_at ?? at,
    updated_at: at,
  }
  const isRetimed = effectOfEdit(date, fields) === 'times'
  const edits = [...state.edits.filter((each) => each !== stored), edit].sort((a, b) => (a.slot < b.slot ? -1 : 1))
  const changed: EventState = {
    ...state,
    edits,
    begun: isRetimed ? state.begun.map((row) => (row.slot === slot ? runningWith(row, fields) : row)) : state.begun,
    responses:
      fields.attendees !== undefined && mode === 'single'
        ? state.responses.filter((answer) => answer.slot !== slot)
        : state.responses,
    event: {
      ...event,
      edits_revision: event.edits_revision + 1,
      ...(isRetimed && !isStarting(state, at) && { seen_until: at }),
    },
  }
  const placed = withSpans(changed, (other) => (mode === 'single' ? other === slot : other >= slot))
  return { ...placed, event: { ...placed.event, last_end_at: lastEndOf(placed.event, placed.edits) } }
}

function checkNumber({ edits }: EventState, mode: EditMode): void {
  const most = mode === 'single' ? CALENDAR_LIMITS.singleEdits : CALENDAR_LIMITS.futureEdits
  if (edits.filter((edit) => edit.mode === mode).length < most) return
  const what = mode === 'single' ? 'edited dates' : 'changes of all later dates'
  throw invalid(['event_id'], `A series has at most ${most} ${what}`)
}

function runningWith(row: BegunDateRow, fields: EditedFields): BegunDateRow {
  if (row.state !== 'running') return row
  const { duration_mode = row.duration_mode, duration_value = row.duration_value, status = row.status } = fields
  const next = { ...row, duration_mode, duration_value, status }
  return { ...next, end_at: instantsOf(next).end_at }
}
