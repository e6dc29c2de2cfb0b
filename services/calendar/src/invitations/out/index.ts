export type { PlannedMail, SentChange } from './change.ts'
export { Invitations, type InvitationsOptions } from './invitations.ts'
export { mailsFor } from './plan.ts'
export { leavesInbox, mailedAttendees } from './recipients.ts'
