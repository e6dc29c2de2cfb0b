import type { ErrorCode } from '../../vocabulary/errors.ts'

/** What a page says about a code in addition to its own message and fix. */
export interface ErrorHelp {
  readonly meaning: string
  /** What to do. Where it is left out, the `fix` of the code says it. */
  readonly remedy?: string
}

/** Every code (identity 1.6). */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  validation_error: {
    meaning:
      'A part of the request has a wrong form: a member of the body, a parameter, a header, a page token, or JSON that cannot be read.',
    remedy:
      'Read `errors`: each entry has the path of a wrong value and what is wrong with it. Correct it and send the request again.',
  },
  query_range_too_wide: {
    meaning: 'The period between the two times of the query is longer than the operation answers at once.',
    remedy: 'Ask for several shorter periods. With metrics, a larger `period` allows a longer range.',
  },
  missing_authorization: { meaning: 'The request has no API key, or the header that should hold it cannot be read.' },
  invalid_token_type: {
    meaning: 'The value after `Bearer` is a session token (three parts with dots), not an API key.',
  },
  unknown_api_key: { meaning: 'No key here has this secret. It was deleted or replaced, or its organization is gone.' },
  api_key_expired: { meaning: 'The key exists, and the time of its expiry has passed.' },
  unauthorized: {
    meaning: 'The signature of a signed request was not accepted.',
    remedy:
      'Follow `fix`, which says what was wrong: the covered parts, the time, a nonce that was used before, or the key.',
  },
  missing_permission: {
    meaning:
      'The key lacks the permission that the operation needs, its kind of key can never use it, or the organization may not do this yet.',
    remedy:
      'Follow `fix`, which names the permission. Use a key that has it; a key cannot give another one more than it has itself.',
  },
  permission_escalation: {
    meaning:
      'A new or changed key would have a permission, or a later expiry, that the key of the request does not have.',
    remedy: 'Leave out what the calling key lacks, or call with a key that has it.',
  },
  unrestricted_key_required: { meaning: 'The operation is for keys without a list of permissions only.' },
  forbidden: {
    meaning: 'The operation is not for this kind of key, or a feature is not enabled for the organization.',
    remedy: 'Follow `fix`. An inbox key reaches its inbox only, a pod key its pod: use a key of the wider scope.',
  },
  message_rejected: {
    meaning:
      'The mail was not sent and will not be: a recipient is on a block list or suppressed, an attachment could not be fetched, or the organization may not send to it.',
    remedy:
      'Read `message` and `fix`. Leave out the recipients that are named, or change the content; the same request is refused again.',
  },
  inbox_paused: { meaning: 'The inbox is paused and does not send.' },
  already_exists: {
    meaning: 'Your own organization has this already: an address, a domain, or the organization of this human.',
    remedy: 'Use what exists: list it, or repeat the create with its `client_id`.',
  },
  resource_taken: { meaning: 'Another organization has the name, or it is reserved.' },
  limit_exceeded: {
    meaning: 'The organization has as many of these as it may have. `resource` and `limit` say of what and how many.',
    remedy: 'Delete what is not needed, or ask the operator of the installation for a higher limit.',
  },
  domain_not_verified: { meaning: 'The domain is registered, but its DNS records have not been found yet.' },
  not_found: {
    meaning:
      'What the path or the body names does not exist, or lies outside the scope of the key; `message` says which part. `Route not found`: no operation has this method and path.',
    remedy: 'Check the id and the scope of the key. Paths begin with `/v0`.',
  },
  conflict: {
    meaning:
      'The request contradicts the present state: a `client_id` or `Idempotency-Key` that was used for something else, a request with the same key that still runs, an opposite list entry, a draft that is being sent.',
    remedy: 'Read `message`. If the header `x-should-retry` is `true`, repeat the request later; otherwise change it.',
  },
  race_condition: { meaning: 'Other requests changed the same thing at the same time, again and again.' },
  resource_deleting: { meaning: 'What had this name before is still being removed.' },
  cannot_delete: {
    meaning: 'It must stay: the default pod, a pod that is not empty, or a list entry that the service made.',
    remedy: 'Empty the pod first. Entries that the service made end by themselves or stay.',
  },
  idempotency_conflict: { meaning: 'The `Idempotency-Key` or `client_id` belongs to another request.' },
  event_starting: { meaning: 'The date is at its start, which is being announced.' },
  event_already_started: {
    meaning: 'The date has started or ended, and this change is possible only before.',
    remedy: 'Change only title, description, location, metadata or attendees, or a later date.',
  },
  event_in_progress: {
    meaning: 'The series has edits of single dates that the change does not fit.',
    remedy: 'Use the `mode` with which the date was edited, or replace the series.',
  },
  future_edit_start_move_not_supported: { meaning: 'With `mode=future` the start of the dates cannot move.' },
  recurrence_density_limit: { meaning: 'The rule of the series has too many dates in a short time.' },
  materialization_failed: { meaning: 'The rule and its exceptions leave no date at all.' },
  page_token_stale: { meaning: 'The series was changed while its dates were read page by page.' },
  calendar_response_invalid: {
    meaning:
      'The answer or the mail makes no sense for this event: it was cancelled, did not arrive by mail, or belongs to another organizer.',
    remedy: 'Respond only to invitations that came by mail; change an event of your own with an update.',
  },
  calendar_inbox_required: {
    meaning: 'Invitations are sent from the inbox of the calendar, which no longer exists.',
    remedy: 'Change the event without `send_invites`, or create it in the calendar of another inbox.',
  },
  event_expired: {
    meaning: 'The date ended too long ago, was cancelled, or was removed from its series.',
    remedy: 'List the dates of the series and use one of them.',
  },
  precondition_failed: { meaning: 'The resource no longer has the ETag that `If-Match` names.' },
  payload_too_large: {
    meaning: 'The body is larger than the operation takes.',
    remedy: 'Send less at once. Attachments can be given by URL.',
  },
  unprocessable: {
    meaning: 'The request is well formed, and what it asks for is not possible.',
    remedy: 'Read `message` and `fix`: what is missing depends on the operation.',
  },
  rate_limit_exceeded: {
    meaning:
      'Too many requests of this organization, key or address, or too many mails in a window of time; `message` says which.',
  },
  internal_error: {
    meaning: 'A fault of the installation, not of the request.',
    remedy:
      'Repeat the request after a moment. If it stays, give the header `X-Request-Id` of the answer to the operator.',
  },
  service_unavailable: {
    meaning: 'A part of the installation does not answer now, or is being restarted. Nothing was lost.',
  },
}
