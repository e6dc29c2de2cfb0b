import type { EventRow, Schedule } from '../../model/rows.ts'

/** Why something is changed: a request, or a mail. */
export interface Cause {
  /** Of the request or the mail: the id of the public event. */
  readonly operationId: string
  readonly at: Date
  /** Of the inbox. */
  readonly address: string
  readonly mail?: MailCause | undefined
}

/** The mail that brings a change (calendar 15). */
export interface MailCause {
  readonly message_id: string
  /** DTSTAMP. */
  readonly stamped_at: Date
  readonly sequence: number
}

type Described = 'title' | 'description' | 'location' | 'metadata' | 'status' | 'attendees'
type Repeated = 'rule' | 'exdates' | 'rdates'

/** All that a new event is made of, checked. */
export interface NewEvent extends Schedule, Pick<EventRow, Described | Repeated> {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  /** Of the inbox. */
  readonly inbox_created_at?: Date | undefined
  readonly source: EventRow['source']
  readonly organizer_email: string | null
  /** Default: made of the id of the event. */
  readonly uid?: string | undefined
  /** Of a date without its series; see `EventRow`. */
  readonly recurrence_id?: string | undefined
  readonly take_overs: number
}

/**
 * Checked fields that an event gets. Without `rule` the dates that were added or taken out move with the start; with it
 * `exdates` and `rdates` must be given too. A `rule` of null makes a one-off.
 */
export type EventChange = Partial<Schedule & Pick<EventRow, Described | Repeated>>
