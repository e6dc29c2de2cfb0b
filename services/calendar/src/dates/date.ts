import type { Attendee } from '@restante/contracts/resources'
import type { EventStatus } from '@restante/contracts/vocabulary'
import type { BegunDateRow, EditRow, Schedule } from '../model/rows.ts'

/** One date of a series with its edits, or the only one of a one-off event. */
export interface CalendarDate extends Schedule {
  /** The original start; empty of a one-off. */
  readonly slot: string
  readonly original_start_at: Date
  /** Wall time; of whole days the last one. */
  readonly end: string
  readonly start_at: Date
  readonly end_at: Date
  readonly title: string
  readonly description: string | null
  readonly location: string | null
  readonly metadata: unknown
  /** As it ran, of a date that has begun; of others cancelled when the series is, whatever edits say. */
  readonly status: EventStatus
  /** With edits of this date, and with what was answered about it alone. */
  readonly attendees: readonly Attendee[]
  readonly is_exception: boolean
  readonly single: EditRow | undefined
  /** The edits of it and later dates that govern it, earliest first. */
  readonly future: readonly EditRow[]
  readonly begun: BegunDateRow | undefined
}
