import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'

/** Calendars of inboxes: events, dates that repeat, invitations, starts and ends. */
export const service = defineService({
  configuration,
  assemble() {},
})

if (import.meta.main) await runService(service)
