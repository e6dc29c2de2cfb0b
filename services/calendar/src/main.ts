import { Timers } from '@restante/jobs'
import { defineService, runService } from '@restante/kit'
import { ExpirySweeper } from '@restante/service/database'
import { tellBoundaries, ZoneData } from './boundaries/index.ts'
import { configuration } from './config.ts'
import { createCalendarReader } from './icalendar/read/index.ts'
import { applyInvitations, arrivalsConsumer } from './invitations/in/index.ts'
import { Invitations } from './invitations/out/index.ts'
import { openRoutes } from './open-routes.ts'
import { openTenancy } from './tenancy/open-tenancy.ts'
import { SWEEPS } from './tenancy/sweeper.ts'
import type { CalendarTimers } from './timers/kinds.ts'

/** Calendars of inboxes: events, dates that repeat, invitations, starts and ends. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, kafka, log, outbox } = kit
    const timers = kit.use(new Timers<CalendarTimers>({ db, redis: config.redis, log }))
    const invitations = new Invitations({ db, timers, mailSend: kit.peer('mail-send'), log })
    invitations.register(timers)
    tellBoundaries({ db, timers, outbox })
    kit.use(new ZoneData({ db, timers, log }))
    const reader = createCalendarReader()
    kit.use({ name: 'calendar reader', stop: () => reader.close() })
    const [gateway, mailIngest] = [kit.peer('gateway'), kit.peer('mail-ingest')]
    applyInvitations({ db, timers, outbox, mostEvents: config.mostEvents, mailIngest, gateway, reader, log })
    const arrivals = kit.use(arrivalsConsumer({ kafka, db, timers }))
    kit.use(new ExpirySweeper({ db, log, name: 'sweeper of expired dates', sweeps: SWEEPS }))
    const tenancy = kit.use(openTenancy({ kafka, db, log, timers }))
    const changing = { db, outbox, timers, invitations, mostEvents: config.mostEvents }
    openRoutes(kit, config, { changing, tenancy, consumers: [arrivals] })
  },
})

if (import.meta.main) await runService(service)
