import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import type { BegunDateRow, EventRow } from '../model/rows.ts'
import type { CalendarDate } from './date.ts'

/** The record of a date that has begun: the schedule that it has by then. */
export function begunRow(
  { id: event_id, inbox_uid, organization_id }: Pick<EventRow, 'id' | 'inbox_uid' | 'organization_id'>,
  date: CalendarDate,
  { state, snapshot }: Pick<BegunDateRow, 'state' | 'snapshot'>,
): BegunDateRow {
  const { slot, all_day, start, timezone, duration_mode, duration_value, start_at, end_at, status } = date
  return {
    event_id,
    slot,
    inbox_uid,
    organization_id,
    all_day,
    start,
    timezone,
    duration_mode,
    duration_value,
    start_at,
    end_at,
    status,
    state,
    snapshot,
  }
}

/** Whether a date was noticed only after its end, and too long after its start: no event is published then (calendar 17). */
export function isTooLate({ start_at, end_at }: Pick<CalendarDate, 'start_at' | 'end_at'>, now: Date): boolean {
  return end_at <= now && now.getTime() - start_at.getTime() > CALENDAR_LIMITS.overdue
}
