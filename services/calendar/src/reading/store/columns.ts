/**
 * Columns with which dates are found, and not what is written about them: a description alone has up to 64 KB, and a calendar
 * 10,000 events. Of the attendees of an invitation there is the inbox, with its address as `$2`.
 */
export const OUTLINE = `id, kind, status, all_day, start, timezone, duration_mode, duration_value::float8, start_at, end_at, rule,
  last_slot, exdates, rdates, truncate_before, truncated_at, history_before,
  case when source = 'email' then ${ownEntry('attendees')} else '[]'::jsonb end as attendees,
  source, revision, edits_revision`

/**
 * Columns of an `EventRow` that items of lists are made from: without description and metadata, and of attendees only
 * who they are and what they have answered.
 */
export const ITEM = `id, inbox_uid, organization_id, pod_id, kind, title, null::text as description, location,
  null::jsonb as metadata, status, all_day, start, timezone, duration_mode, duration_value::float8, start_at, end_at,
  last_end_at, rule, last_slot, exdates, rdates, truncate_before, truncated_at, history_before, ${answers('attendees')} as attendees,
  uid, recurrence_id, sequence, time_sequence, source, organizer_email, origin_message_id, stamped_at, revision, edits_revision, seen_until,
  take_overs, created_at, updated_at`

const ABOUT_EDIT =
  'event_id, slot, mode, inbox_uid, organization_id, revision, sequence, stamped_at, start_at, end_at, created_at, updated_at'

/** Columns of an `EditRow`, in the same two forms. */
export const EDIT_OUTLINE = `${ABOUT_EDIT}, fields - '{title,description,location,metadata,attendees}'::text[]
  || case when fields ? 'attendees'
       then jsonb_build_object('attendees', ${ownEntry("(fields -> 'attendees')")}) else '{}' end as fields`
export const EDIT_ITEM = `${ABOUT_EDIT}, fields - '{description,metadata,attendees}'::text[]
  || case when fields ? 'attendees'
       then jsonb_build_object('attendees', ${answers("(fields -> 'attendees')")}) else '{}' end as fields`

/** Columns of a `BegunDateRow`, without its snapshot. */
export const BEGUN = `event_id, slot, inbox_uid, organization_id, all_day, start, timezone, duration_mode, duration_value::float8,
  start_at, end_at, status, state, null::jsonb as snapshot`

/** Columns of a `CancelledDateRow`, without its document. */
export const CANCELLED = 'event_id, slot, inbox_uid, organization_id, null::jsonb as document, cancelled_at'

function ownEntry(attendees: string): string {
  return `jsonb_path_query_array(${attendees}, '$[*] ? (@.email == $own)', jsonb_build_object('own', $2::text))`
}

function answers(attendees: string): string {
  return `(select coalesce(jsonb_agg(jsonb_build_object('email', one -> 'email', 'status', one -> 'status')), '[]'::jsonb)
    from jsonb_array_elements(${attendees}) as one)`
}
