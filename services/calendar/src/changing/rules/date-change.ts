import type { UpdateEventBody } from '@restante/contracts/operations'
import { EDIT_MODES, type EditMode } from '@restante/contracts/vocabulary'
import { ApiError, invalid } from '@restante/service/errors'
import { type CalendarDate, instantsOf, readSchedule } from '../../dates/index.ts'
import type { EditedFields } from '../../model/rows.ts'
import { described } from './event-change.ts'

/** Reads `mode` (calendar 6). @throws ApiError 400 for another value, or where no date is named. */
export function readMode(mode: string | undefined, slot: string | undefined): EditMode {
  if (mode === undefined) return 'single'
  const known = EDIT_MODES.find((each) => each === mode)
  if (known === undefined) throw invalid(['mode'], 'Must be single or future')
  if (slot === undefined) throw invalid(['mode'], 'Is for dates of a series; the id of an event means all of them')
  return known
}

/** @throws ApiError 400 for a field that only an event or series has. */
export function requireDateFields(body: UpdateEventBody): void {
  for (const name of ['all_day', 'timezone', 'recurrence'] as const) {
    if (body[name] !== undefined) throw invalid([name], 'Cannot be changed of a single date')
  }
}

/**
 * Reads the change of one date, or of one and all later ones (calendar 6, 11).
 * @throws ApiError 400; 409 `future_edit_start_move_not_supported`.
 */
export function readDateEdit(body: UpdateEventBody, date: CalendarDate, mode: EditMode): EditedFields {
  const { start, end, duration_mode } = body
  if (mode === 'future' && start !== undefined) throw new ApiError('future_edit_start_move_not_supported')
  const fields = described(body)
  if (start === undefined && end === undefined && duration_mode === undefined) return fields
  const { duration_value } = readSchedule({
    start: start ?? date.start,
    end: end ?? date.end,
    all_day: date.all_day,
    timezone: date.timezone,
    duration_mode: duration_mode ?? date.duration_mode,
    series: true,
  })
  return {
    ...fields,
    ...(start !== undefined && { start }),
    ...(duration_mode !== undefined && { duration_mode }),
    // Otherwise it goes on to follow the series.
    ...(end !== undefined && { duration_value }),
  }
}

/** When a date ends with an edit. */
export function editedEnd(date: CalendarDate, fields: EditedFields): Date {
  const { start = date.start, duration_mode = date.duration_mode, duration_value = date.duration_value } = fields
  const { all_day, timezone } = date
  return instantsOf({ all_day, timezone, start, duration_mode, duration_value }).end_at
}
