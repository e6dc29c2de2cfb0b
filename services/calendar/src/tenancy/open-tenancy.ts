import type { Schedule } from '@restante/jobs'
import { checkHandler } from '@restante/kit'
import { type Kafka, missedEventsCheck, outboxCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { holdScopes, listInboxes, Tenancy } from '@restante/tenancy'
import { applyAccess } from '../access/store.ts'
import { takeOvers } from '../take-overs/table.ts'
import type { CalendarTimers } from '../timers/kinds.ts'
import { heldInboxes } from './held-inboxes.ts'
import { calendarPurge } from './purge.ts'
import { deleteEarlier } from './take-over.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly timers: Schedule<CalendarTimers>
}

/**
 * Follows the deletions of inboxes, pods and organizations, whether an organization has calendars, and confirmed
 * take-overs.
 */
export function openTenancy({ kafka, db, log, timers }: OpenTenancyOptions): Tenancy {
  return new Tenancy({
    service: 'calendar',
    kafka,
    db,
    log,
    purge: calendarPurge(timers),
    handlers: {
      'organization.changed': {
        effect: async (tx, { payload }) => {
          if (await holdScopes(tx, [payload.organization_id])) await applyAccess(tx, payload)
        },
      },
      'organization.taken_over': {
        effect: async (tx, { payload }) => {
          if (!payload.verified) return
          await takeOvers.record(tx, payload.organization_id, payload.take_overs)
          await deleteEarlier(tx, timers, payload)
        },
      },
    },
  })
}

/** What the check of missed events needs of a consumer. */
type Followed = Parameters<typeof missedEventsCheck>[0]['consumers'][number]

type Internal = Pick<InternalHandlers<'calendar'>, 'calendar.purgeInbox' | 'calendar.listInboxes' | 'calendar.check'>

/**
 * What the gateway asks about deleted inboxes, and the operator's command about inconsistencies.
 * @param others the consumers of this service besides that of the tenancy.
 */
export function tenancyRoutes(
  tenancy: Tenancy,
  others: readonly Followed[],
  { kafka, db, log }: Omit<OpenTenancyOptions, 'timers'>,
): Internal {
  return {
    'calendar.purgeInbox': tenancy.purgeInbox,
    'calendar.listInboxes': listInboxes(db, (after, rows) => heldInboxes(db, after, rows)),
    'calendar.check': checkHandler(
      { service: 'calendar', log },
      { outbox: outboxCheck(db), events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer, ...others] }) },
    ),
  }
}
