import type { EditMode, Response } from '@restante/contracts/vocabulary'
import type { EventState } from '../../model/rows.ts'

/** From whom a change is sent, and when it was made. */
interface Sending {
  /** Of the inbox. */
  readonly address: string
  readonly displayName?: string | undefined
  readonly at: Date
}

/** What attendees, or the organizer, are told of (calendar 14.1, 14.2). States are those after the change of sequences. */
export type SentChange = Sending &
  (
    | {
        /** A one-off or a series was created, changed, or is announced again: then both states are the same. */
        readonly kind: 'event'
        /** Absent: it is new. */
        readonly before?: EventState
        readonly after: EventState
      }
    | {
        /** One date, or all dates from one on, were changed. */
        readonly kind: 'date'
        readonly mode: EditMode
        readonly slot: string
        readonly before: EventState
        readonly after: EventState
      }
    | { readonly kind: 'deleted'; readonly before: EventState }
    | {
        /** One date was taken out of its series, or the series ends before it. */
        readonly kind: 'date-cancelled'
        readonly mode: EditMode
        readonly slot: string
        readonly before: EventState
        readonly after: EventState
      }
    | {
        /** The inbox answers the organizer. */
        readonly kind: 'reply'
        readonly state: EventState
        /** Absent: about all dates. */
        readonly slot?: string | undefined
        readonly status: Response
        readonly comment?: string | undefined
      }
  )

/** A mail about an event to one address. */
export interface PlannedMail {
  readonly event_id: string
  readonly inbox_uid: string
  readonly organization_id: string
  /** Of the inbox; its mails get ids of its domain. */
  readonly address: string
  readonly recipient: string
  readonly recipient_name: string | null
  /** `invitation` also of changes: whoever has not been invited yet gets it as an invitation. */
  readonly about: 'invitation' | 'cancellation' | 'answer'
  readonly title: string
  readonly text: string
  readonly method: 'REQUEST' | 'CANCEL' | 'REPLY'
  /** The calendar object. */
  readonly calendar: string
  /** Whether it is sent only if its recipient was invited before. */
  readonly only_invited: boolean
  /** Of an answer: the mail with the invitation. */
  readonly in_reply_to: string | null
}
