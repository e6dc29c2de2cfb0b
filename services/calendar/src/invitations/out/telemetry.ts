import { Counter } from 'prom-client'

/** Mails about events, by what became of them at mail-send. */
export const invitationsEnded = new Counter({
  name: 'restante_calendar_invitations_total',
  help: 'Mails about calendar events: sent, refused by lists or limits, or failed',
  labelNames: ['outcome'],
})
for (const outcome of ['sent', 'refused', 'failed']) invitationsEnded.inc({ outcome }, 0)
