/** A time in a calendar file: a wall time of a zone, or a day. */
export interface ReadTime {
  /** `YYYY-MM-DDTHH:mm:ss`, or `YYYY-MM-DD`. */
  readonly wall: string
  /** A name of the IANA database; undefined of a day, and of a time without a zone: it means that of the reader. */
  readonly zone: string | undefined
}

export interface ReadPeriod {
  readonly start: ReadTime
  readonly end?: ReadTime
  /** ISO 8601. */
  readonly duration?: string
}

export interface ReadAttendee {
  /** As it was written, without `mailto:`. */
  readonly email: string
  readonly name?: string
  readonly status: 'needs_action' | 'accepted' | 'declined' | 'tentative'
  readonly role: 'required' | 'optional'
}

/** One VEVENT. */
export interface ReadEvent {
  /** The original start of the date that it is about. */
  readonly recurrenceId?: ReadTime
  /** Undefined: it has none. */
  readonly sequence: number | undefined
  /** DTSTAMP, RFC 3339. */
  readonly stampedAt: string | undefined
  readonly title: string
  readonly description: string | undefined
  readonly location: string | undefined
  readonly status: 'confirmed' | 'tentative' | 'cancelled'
  /** A cancellation may have none. */
  readonly start: ReadTime | undefined
  readonly end: ReadTime | undefined
  /** ISO 8601, in place of the end. */
  readonly duration: string | undefined
  /** RRULE of RFC 5545. Its UNTIL may be a day or a time without a zone, as some programs write it. */
  readonly rule: string | undefined
  readonly exdates: readonly ReadTime[]
  readonly rdates: readonly (ReadTime | ReadPeriod)[]
  readonly organizer: string | undefined
  readonly attendees: readonly ReadAttendee[]
  readonly comment: string | undefined
}

export const METHODS = ['REQUEST', 'CANCEL', 'REPLY'] as const
export type Method = (typeof METHODS)[number]

/** A calendar file about one event: the event, or dates of it, or both. */
export interface ReadFile {
  readonly method: Method
  readonly uid: string
  /** The event itself first. */
  readonly events: readonly ReadEvent[]
}

/** Why a file is not read: what it says cannot be kept, or is none of a calendar's business. */
export type Unreadable =
  | 'damaged'
  | 'other_method'
  | 'no_single_event'
  | 'too_many_events'
  | 'later_dates'
  | 'unknown_zone'
  | 'invalid_event'

export type ReadResult = { readonly file: ReadFile } | { readonly unreadable: Unreadable }
