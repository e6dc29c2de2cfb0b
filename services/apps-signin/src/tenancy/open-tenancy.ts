import { checkHandler } from '@restante/kit'
import { type Kafka, missedEventsCheck, outboxCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { listInboxes, Tenancy } from '@restante/tenancy'
import { heldInboxes } from './held-inboxes.ts'
import { purge } from './purge.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
}

/** Follows the deletions of inboxes, pods and organizations. */
export function openTenancy({ kafka, db, log }: OpenTenancyOptions): Tenancy {
  return new Tenancy({ service: 'apps-signin', kafka, db, log, purge })
}

type Internal = Pick<
  InternalHandlers<'apps-signin'>,
  'apps-signin.purgeInbox' | 'apps-signin.listInboxes' | 'apps-signin.check'
>

/** What the gateway asks about deleted inboxes, and the operator's command about inconsistencies. */
export function tenancyRoutes(tenancy: Tenancy, { kafka, db, log }: OpenTenancyOptions): Internal {
  return {
    'apps-signin.purgeInbox': tenancy.purgeInbox,
    'apps-signin.listInboxes': listInboxes(db, (after, rows) => heldInboxes(db, after, rows)),
    'apps-signin.check': checkHandler(
      { service: 'apps-signin', log },
      { outbox: outboxCheck(db), events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer] }) },
    ),
  }
}
