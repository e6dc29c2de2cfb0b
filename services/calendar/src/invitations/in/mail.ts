import type { InternalResponseOf } from '@restante/contracts/internal'
import type { Cause, WriteDeps } from '../../changing/writes.ts'
import type { ReadEvent } from '../../icalendar/read/index.ts'
import type { CalendarOwner } from '../../store/index.ts'
import type { ImportContext } from './fields.ts'

/** A received mail with what decides about its calendar file. */
export type ReceivedMail = NonNullable<InternalResponseOf<'mail-ingest.getCalendarFiles'>['mail']>

/** The mail whose calendar file is applied, and to which calendar. */
export interface Arrival {
  readonly owner: CalendarOwner
  readonly takeOvers: number
  readonly messageId: string
  /** The authenticated author of the mail. */
  readonly from: string
  readonly receivedAt: Date
  readonly at: Date
  readonly context: ImportContext
  readonly deps: WriteDeps
}

/** Why a file changes nothing, in the words of logs and metrics. */
export type Ignored =
  | 'wrong_sender'
  | 'wrong_organizer'
  | 'own_event'
  | 'unknown_event'
  | 'unknown_date'
  | 'outdated'
  | 'not_invited'
  | 'too_many'
  | 'invalid'

/** The id of the event or the date that a file was applied to, or why it was to none. */
export type Applied = { readonly calendarEventId: string } | { readonly ignored: Ignored }

/** When a change was made; a program that does not say so made it when its mail arrived. */
export function stampOf({ stampedAt }: ReadEvent, { receivedAt }: Arrival): Date {
  return stampedAt === undefined ? receivedAt : new Date(stampedAt)
}

/** Why a VEVENT changes something: each change is told of under an id of its own. */
export function causeOf(event: ReadEvent, arrival: Arrival, operationId: string): Cause {
  const { at, messageId, owner } = arrival
  const mail = { message_id: messageId, stamped_at: stampOf(event, arrival), sequence: event.sequence ?? 0 }
  return { operationId, at, address: owner.address, mail }
}

/** What was last applied to an event or a date. */
interface Version {
  readonly sequence: number
  readonly stamped_at: Date | null
}

/** Whether a VEVENT is older than what was applied before (RFC 5546 2.1.5); the same one again is, too. */
export function isOutdated(event: ReadEvent, stored: Version | undefined, arrival: Arrival): boolean {
  if (stored === undefined) return false
  const sequence = event.sequence ?? 0
  if (sequence !== stored.sequence) return sequence < stored.sequence
  // Stored without fractions.
  const stamp = Math.floor(stampOf(event, arrival).getTime() / 1_000) * 1_000
  return stored.stamped_at !== null && stamp <= stored.stamped_at.getTime()
}
