import { createHash } from 'node:crypto'
import type { CreateEventBody } from '@restante/contracts/operations'
import { readRecurrence, readSchedule } from '../../dates/index.ts'
import type { NewEvent } from '../transitions/index.ts'
import { readAttendees } from './attendees.ts'

type Fields = Omit<
  NewEvent,
  'organization_id' | 'pod_id' | 'inbox_uid' | 'inbox_created_at' | 'source' | 'organizer_email' | 'uid' | 'take_overs'
>

/**
 * Reads the fields of a new event (calendar 5).
 * @param timezone of the calendar.
 * @throws ApiError 400; 409 for a rule with too many dates, or none.
 */
export function readNewEvent(body: CreateEventBody, timezone: string): Fields {
  const { start, end, all_day = false, duration_mode, recurrence } = body
  const series = recurrence !== undefined
  const schedule = readSchedule({ start, end, all_day, timezone: body.timezone ?? timezone, duration_mode, series })
  return {
    title: body.title,
    description: textOrNull(body.description),
    location: textOrNull(body.location),
    metadata: body.metadata ?? null,
    status: body.status ?? 'confirmed',
    attendees: readAttendees(body.attendees ?? []),
    ...schedule,
    ...(recurrence ? readRecurrence(recurrence, schedule) : { rule: null, exdates: [], rdates: [] }),
  }
}

/** An empty text is none. */
export function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text
}

/** SHA-256 of a validated body, whatever the order of its members; null is the same as absent (calendar 13.2). */
export function hashOfBody(body: CreateEventBody): Buffer {
  const { client_id, ...given } = body
  return createHash('sha256')
    .update(JSON.stringify(ordered(given)))
    .digest()
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null)
  // A list of pairs keeps its order, whatever the names are.
  return { members: members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, ordered(member)]) }
}
