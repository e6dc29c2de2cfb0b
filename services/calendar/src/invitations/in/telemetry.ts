import { Counter } from 'prom-client'

/** Received calendar files, by what became of them. */
export const invitationsReceived = new Counter({
  name: 'restante_calendar_received_invitations_total',
  help: 'Received calendar files: applied to the calendar, ignored by a rule, unreadable, or too costly to read',
  labelNames: ['outcome'],
})
for (const outcome of ['applied', 'ignored', 'unreadable', 'costly']) invitationsReceived.inc({ outcome }, 0)
