import { Counter } from 'prom-client'

/** Scheduled drafts that were due. */
export const draftsEnded = new Counter({
  name: 'restante_scheduled_drafts_total',
  help: 'Scheduled drafts that were sent, or failed',
  labelNames: ['outcome'],
})
for (const outcome of ['sent', 'failed']) draftsEnded.inc({ outcome }, 0)
