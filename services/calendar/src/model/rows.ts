import type { Attendee, RdatePeriod } from '@restante/contracts/resources'
import type { AttendeeStatus, DurationMode, EditMode, EventSource, EventStatus } from '@restante/contracts/vocabulary'

/** How an event, or a date of one, lies in time (calendar 4). Wall times are text as on the wire. */
export interface Schedule {
  readonly all_day: boolean
  /** `YYYY-MM-DDTHH:mm:ss`, or of whole days `YYYY-MM-DD`. */
  readonly start: string
  readonly timezone: string
  readonly duration_mode: DurationMode
  /** Milliseconds, or of whole days their number. */
  readonly duration_value: number
}

/** The row of a calendar; until its first change a calendar has none. */
export interface CalendarRow {
  readonly inbox_uid: string
  readonly organization_id: string
  readonly pod_id: string
  readonly address: string
  readonly timezone: string
  readonly revision: number
  readonly event_count: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** The row of a one-off event or a series. */
export interface EventRow extends Schedule {
  readonly id: string
  readonly inbox_uid: string
  readonly organization_id: string
  readonly pod_id: string
  readonly kind: 'single' | 'series'
  readonly title: string
  readonly description: string | null
  readonly location: string | null
  /** JSON; null: none. */
  readonly metadata: unknown
  readonly status: EventStatus
  /** Of a one-off; of a series those of its first start. */
  readonly start_at: Date
  readonly end_at: Date
  /** No date ends later; null: an endless series. */
  readonly last_end_at: Date | null
  /** In normal form; null: a one-off. */
  readonly rule: string | null
  /**
   * The last slot that a rule with COUNT makes; null of any other. It follows from start and rule and is stored because reads
   * would have to count up to it; only reads load it, since it is outdated once one of the two is changed.
   */
  readonly last_slot?: string | null
  readonly exdates: readonly string[]
  readonly rdates: readonly (string | RdatePeriod)[]
  readonly truncate_before: string | null
  readonly truncated_at: Date | null
  /** Of the dates whose original start is before it only those that ran exist: an earlier definition made them. */
  readonly history_before: string | null
  readonly attendees: readonly Attendee[]
  readonly uid: string
  /** Of a date whose series is unknown here: its original start, in UTC; empty: the whole event. */
  readonly recurrence_id: string
  readonly sequence: number
  /** The sequence of the last change of time or rule. */
  readonly time_sequence: number
  readonly source: EventSource
  readonly organizer_email: string | null
  readonly origin_message_id: string | null
  readonly stamped_at: Date | null
  readonly revision: number
  readonly edits_revision: number
  /** Boundaries of dates that ended before are not raised any more. */
  readonly seen_until: Date
  readonly take_overs: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** What an edit of a date may change; null clears, an absent member follows the series. */
export interface EditedFields {
  readonly title?: string
  readonly description?: string | null
  readonly location?: string | null
  readonly metadata?: unknown
  readonly status?: EventStatus
  /** Only of a single edit. */
  readonly start?: string
  readonly duration_mode?: DurationMode
  /** What `end` says, as a length: it stays when the start of the series moves. */
  readonly duration_value?: number
  readonly attendees?: readonly Attendee[]
}

/** The edit of one slot, of its date alone or of it and all later ones. */
export interface EditRow {
  readonly event_id: string
  readonly slot: string
  readonly mode: EditMode
  readonly inbox_uid: string
  readonly organization_id: string
  readonly fields: EditedFields
  readonly revision: number
  readonly sequence: number
  readonly stamped_at: Date | null
  readonly start_at: Date | null
  readonly end_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A date that has begun, as it ran. The slot of a one-off is empty. */
export interface BegunDateRow extends Schedule {
  readonly event_id: string
  readonly slot: string
  readonly inbox_uid: string
  readonly organization_id: string
  readonly start_at: Date
  readonly end_at: Date
  readonly status: EventStatus
  readonly state: 'running' | 'ended' | 'skipped'
  readonly snapshot: unknown
}

/** A date that was taken out of its series, with the document that is shown of it. */
export interface CancelledDateRow {
  readonly event_id: string
  readonly slot: string
  readonly inbox_uid: string
  readonly organization_id: string
  readonly document: unknown
  readonly cancelled_at: Date
}

/** What an attendee answered about one date alone. */
export interface DateResponseRow {
  readonly event_id: string
  readonly slot: string
  readonly email: string
  readonly inbox_uid: string
  readonly organization_id: string
  readonly status: AttendeeStatus
  readonly comment: string | null
  readonly responded_at: Date
}

/** An event with what is stored of its dates; of a one-off there is at most one begun date. */
export interface EventState {
  readonly event: EventRow
  readonly edits: readonly EditRow[]
  readonly begun: readonly BegunDateRow[]
  readonly cancelled: readonly CancelledDateRow[]
  readonly responses: readonly DateResponseRow[]
}
