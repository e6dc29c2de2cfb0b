import { checkHandler } from '@restante/kit'
import { type Kafka, missedEventsCheck } from '@restante/messaging'
import { type Database, sql } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { type HeldInbox, listInboxes, Tenancy, Tombstones } from '@restante/tenancy'
import { countEntities } from '../counting/consumers.ts'
import { purge } from './purge.ts'

interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
}

/** Follows tenancy: counts pods and inboxes, and deletes what is counted for those that are deleted. */
export function openTenancy({ kafka, db, log }: OpenTenancyOptions): Tenancy {
  return new Tenancy({
    service: 'metrics',
    kafka,
    db,
    log,
    purge,
    // A deletion that becomes known before all else of its inbox counts for the pod too.
    tombstones: new Tombstones({ keepsPods: true }),
    handlers: {
      'pod.changed': {
        effect: async (tx, { payload: { pod_id: id, organization_id: organizationId, created_at } }) => {
          const at = new Date(created_at)
          await countEntities(tx, 'created', [{ kind: 'pod', id, organizationId, podId: undefined, at }])
        },
      },
      'inbox.changed': {
        effect: async (
          tx,
          { payload: { inbox_uid: id, organization_id: organizationId, pod_id: podId, created_at } },
        ) => {
          const at = new Date(created_at)
          await countEntities(tx, 'created', [{ kind: 'inbox', id, organizationId, podId, at }])
        },
      },
    },
  })
}

const HELD = sql<HeldInbox, [after: string, rows: number]>(`
select id as inbox_uid, organization_id, pod_id, null as address
  from entities as e where kind = 'inbox' and not purged and id > $1::uuid
   and (exists (select from runs where scope_id = e.id and tier = 3)
     or exists (select from arrivals where scope_id = e.id and tier = 3)
     or exists (select from totals where scope_id = e.id and tier = 3))
 order by id limit $2`)

/** What the check of missed events needs of a consumer. */
export type Followed = Parameters<typeof missedEventsCheck>[0]['consumers'][number]

type Internal = Pick<InternalHandlers<'metrics'>, 'metrics.purgeInbox' | 'metrics.listInboxes' | 'metrics.check'>

/** What the gateway asks about deleted inboxes, and the operator's command about inconsistencies. */
export function tenancyRoutes(
  tenancy: Tenancy,
  { kafka, db, log, consumers }: OpenTenancyOptions & { readonly consumers: readonly Followed[] },
): Internal {
  return {
    'metrics.purgeInbox': tenancy.purgeInbox,
    'metrics.listInboxes': listInboxes(db, (after, rows) => db.query(HELD, after, rows)),
    'metrics.check': checkHandler(
      { service: 'metrics', log },
      { events: missedEventsCheck({ kafka, db, consumers: [tenancy.consumer, ...consumers] }) },
    ),
  }
}
