import type { UpdateEventBody } from '@restante/contracts/operations'
import { ApiError, invalid } from '@restante/service/errors'
import { endOf, readRecurrence, readSchedule } from '../../dates/index.ts'
import type { EventRow, EventState, Schedule } from '../../model/rows.ts'
import { type EventChange, keptEnd, movedLists } from '../transitions/index.ts'
import { readAttendees } from './attendees.ts'
import { textOrNull } from './new-fields.ts'

/**
 * Reads the change of a one-off or series (calendar 6).
 * @throws ApiError 400; 409 `event_in_progress` when a series with edited dates would become a one-off; 409 for a rule
 * with too many dates, or none.
 */
export function readEventChange(body: UpdateEventBody, state: EventState): EventChange {
  const { event } = state
  const series = body.recurrence === undefined ? event.rule !== null : body.recurrence !== null
  const schedule = readTimes(body, event, series)
  return {
    ...described(body),
    ...schedule,
    ...readRepetition(body, state, schedule ?? event, schedule !== undefined),
  }
}

/** What is said of an event, or of a date, in a change. */
export function described(body: UpdateEventBody): EventChange {
  const { title, description, location, metadata, status, attendees } = body
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: textOrNull(description) }),
    ...(location !== undefined && { location: textOrNull(location) }),
    ...(metadata !== undefined && { metadata }),
    ...(status !== undefined && { status }),
    ...(attendees !== undefined && { attendees: readAttendees(attendees) }),
  }
}

function readTimes(body: UpdateEventBody, event: EventRow, series: boolean): Schedule | undefined {
  const { start, end, all_day = event.all_day, timezone, duration_mode } = body
  const isOtherForm = all_day !== event.all_day
  if (isOtherForm && (start === undefined || timezone === undefined)) {
    throw invalid(
      [start === undefined ? 'start' : 'timezone'],
      'A change of `all_day` needs `start`, `end`, `timezone`',
    )
  }
  const becomes = series !== (event.rule !== null)
  if (start === undefined && timezone === undefined && duration_mode === undefined && !becomes) return undefined
  const schedule = readSchedule({
    start: start ?? event.start,
    end: end ?? endOf(event),
    all_day,
    timezone: timezone ?? event.timezone,
    duration_mode: duration_mode ?? (isOtherForm ? undefined : event.duration_mode),
    series,
  })
  return schedule
}

function readRepetition(
  { recurrence }: UpdateEventBody,
  { event, edits, begun }: EventState,
  schedule: Schedule,
  isRead: boolean,
): Pick<EventChange, 'rule' | 'exdates' | 'rdates'> {
  if (recurrence === null) {
    if (event.rule === null) return {}
    const runs = begun.some(({ slot, state }) => state === 'running' && slot !== event.start)
    if (edits.length > 0 || runs) {
      throw new ApiError('event_in_progress', { message: 'Dates of the series were edited, so it stays a series' })
    }
    return { rule: null, exdates: [], rdates: [] }
  }
  if (recurrence !== undefined) return readRecurrence(recurrence, schedule, keptEnd(event, schedule).truncate_before)
  // The dates that the rule makes of another start are checked like those of a new rule.
  if (event.rule !== null && isRead) {
    const { exdates, rdates, truncate_before } = movedLists(event, schedule)
    readRecurrence({ rule: event.rule, exdates, rdates }, schedule, truncate_before)
  }
  return {}
}
