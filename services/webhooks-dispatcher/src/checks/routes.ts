import type { Schedule } from '@restante/jobs'
import { checkHandler } from '@restante/kit'
import { type Kafka, missedEventsCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { listInboxes, type Tenancy } from '@restante/tenancy'
import type { TimerKinds } from '../delivery/timers.ts'
import { heldInboxes } from './held-inboxes.ts'
import { lostDeliveriesCheck } from './lost-timers.ts'

interface Options {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly timers: Schedule<TimerKinds>
  readonly tenancy: Tenancy
}

/**
 * What the operator's command asks this service. Public events are not among those that a repair applies: their webhooks
 * were requested already, and would be again, under other ids. `webhooks replay` does that, where it is wanted.
 */
export function checkRoutes({
  kafka,
  db,
  log,
  timers,
  tenancy,
}: Options): Pick<
  InternalHandlers<'webhooks-dispatcher'>,
  'webhooks-dispatcher.check' | 'webhooks-dispatcher.listInboxes'
> {
  return {
    'webhooks-dispatcher.check': checkHandler(
      { service: 'webhooks-dispatcher', log },
      {
        events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer] }),
        timers: lostDeliveriesCheck({ db, timers }),
      },
    ),
    'webhooks-dispatcher.listInboxes': listInboxes(db, (after, rows) => heldInboxes(db, after, rows)),
  }
}
