import type { PlannedMail, SentChange } from './change.ts'

/** The mails that tell of a change (calendar 14.2), for `Invitations.queue`. */
export function mailsFor(_change: SentChange): PlannedMail[] {
  throw new Error('not yet')
}
