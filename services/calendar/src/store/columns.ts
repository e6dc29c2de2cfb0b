/** Columns of a row of `events`, in the order of the table. */
const EVENT_COLUMNS = [
  'id',
  'inbox_uid',
  'organization_id',
  'pod_id',
  'kind',
  'title',
  'description',
  'location',
  'metadata',
  'status',
  'all_day',
  'start',
  'timezone',
  'duration_mode',
  'duration_value',
  'start_at',
  'end_at',
  'last_end_at',
  'rule',
  'exdates',
  'rdates',
  'truncate_before',
  'truncated_at',
  'history_before',
  'attendees',
  'uid',
  'recurrence_id',
  'sequence',
  'time_sequence',
  'source',
  'organizer_email',
  'origin_message_id',
  'stamped_at',
  'revision',
  'edits_revision',
  'seen_until',
  'take_overs',
  'created_at',
  'updated_at',
]
const EDIT_COLUMNS = [
  'event_id',
  'slot',
  'mode',
  'inbox_uid',
  'organization_id',
  'fields',
  'revision',
  'sequence',
  'stamped_at',
  'start_at',
  'end_at',
  'created_at',
  'updated_at',
]
const BEGUN_COLUMNS = [
  'event_id',
  'slot',
  'inbox_uid',
  'organization_id',
  'all_day',
  'start',
  'timezone',
  'duration_mode',
  'duration_value',
  'start_at',
  'end_at',
  'status',
  'state',
  'snapshot',
]
const CANCELLED_COLUMNS = ['event_id', 'slot', 'inbox_uid', 'organization_id', 'document', 'cancelled_at']
const RESPONSE_COLUMNS = [
  'event_id',
  'slot',
  'email',
  'inbox_uid',
  'organization_id',
  'status',
  'comment',
  'responded_at',
]

/** The columns that are written, by table. */
export const WRITTEN = {
  events: EVENT_COLUMNS,
  edits: EDIT_COLUMNS,
  begun_dates: BEGUN_COLUMNS,
  cancelled_dates: CANCELLED_COLUMNS,
  date_responses: RESPONSE_COLUMNS,
} as const

/** Selects the columns of a table; a bigint would be read as text. */
export function selected(table: keyof typeof WRITTEN): string {
  return WRITTEN[table].join(', ').replace('duration_value', 'duration_value::float8')
}
