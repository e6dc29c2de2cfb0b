/** With which time zone data the instants of the future are computed, and how far that is. */
export interface ZoneDataMark {
  readonly version: string
  /** The event that was the last one; null when all were. */
  readonly after: string | null
  /** Of the latest step, as ISO 8601. */
  readonly at: string
}

/** Timers of this service. */
export interface CalendarTimers {
  /** The next start or end of an event is reached; its key is the id of the event. */
  readonly boundary: { readonly event_id: string }
  /** A mail is to be handed to mail-send; its key is the id of the mail. */
  readonly 'invitation-out': { readonly mail_id: string }
  /** A received mail has a calendar file; its key is made of inbox and message. */
  readonly 'invitation-in': { readonly inbox_uid: string; readonly message_id: string }
  /** The instants of the future are computed anew with other time zone data; there is one. */
  readonly 'zone-data': ZoneDataMark
}
