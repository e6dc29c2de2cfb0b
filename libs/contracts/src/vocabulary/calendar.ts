export const EVENT_KINDS = ['single', 'series', 'instance'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const EVENT_STATUSES = ['confirmed', 'tentative', 'cancelled'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/** How the end of an event follows from its start (calendar 4): so many milliseconds later, or so much on the clock. */
export const DURATION_MODES = ['exact', 'nominal'] as const
export type DurationMode = (typeof DURATION_MODES)[number]

export const ATTENDEE_STATUSES = ['needs_action', 'accepted', 'declined', 'tentative'] as const
export type AttendeeStatus = (typeof ATTENDEE_STATUSES)[number]

/** What an attendee can answer with. */
export const RESPONSES = ['accepted', 'declined', 'tentative'] as const satisfies readonly AttendeeStatus[]
export type Response = (typeof RESPONSES)[number]

export const ATTENDEE_ROLES = ['required', 'optional'] as const
export type AttendeeRole = (typeof ATTENDEE_ROLES)[number]

/** Where an event comes from: a request, or an invitation that was mailed. */
export const EVENT_SOURCES = ['api', 'email'] as const
export type EventSource = (typeof EVENT_SOURCES)[number]

/** What a change of one date is about: this date, or this date and all later ones (calendar 11). */
export const EDIT_MODES = ['single', 'future'] as const
export type EditMode = (typeof EDIT_MODES)[number]

/** Types of files that a received mail may bring an invitation in (calendar 15). */
export const CALENDAR_FILE_TYPES: readonly string[] = ['text/calendar', 'application/ics']

const DAY = 24 * 60 * 60 * 1_000

/** Limits of calendars (calendar 18). Sizes are bytes of UTF-8, lengths are characters, times are milliseconds. */
export const CALENDAR_LIMITS = {
  /** One-off and recurring events of a calendar; installations may change it. */
  events: 10_000,
  eventBody: 128 * 1024,
  settingsBody: 8 * 1024,
  title: 1_000,
  description: 65_536,
  location: 1_024,
  metadata: 16_384,
  attendees: 100,
  attendeeName: 256,
  comment: 4_096,
  /** From start to end: of a one-off, and of each date of a series. */
  length: { single: 366 * DAY, date: 31 * DAY },
  /** Between `after` and `before` of a list, and where only `after` is given. */
  window: { most: 366 * DAY, default: 90 * DAY },
  /** Dates of one series within the window of a list. */
  datesInWindow: 3_000,
  /** Dates of a series within any 90 days, looked at over its first three years. */
  density: { dates: 730, within: 90 * DAY, looksAt: 3 * 366 * DAY },
  rule: 512,
  exdates: 366,
  rdates: 100,
  /** Edited dates of a series, and its changes of all later dates. */
  singleEdits: 730,
  futureEdits: 64,
  /** A date that has ended, or was cancelled, can be read by its id this long. */
  dateKept: 30 * DAY,
  /** A boundary of a date that had ended before it was noticed is raised if the date began at most so long ago. */
  overdue: 5 * 60 * 1_000,
  /** A repeated deletion gets the answer of the first so long. */
  deletionRepeats: 60 * 1_000,
  /** Calendar file of a received mail. */
  file: 1024 * 1024,
  /** Inboxes of one question about free time. */
  freeBusyInboxes: 20,
} as const
