import { PurgeBacklog, type PurgesWaiting, sql } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import type { Db } from '../storage/database.ts'

// Each has its timer from its deletion until it is purged, here and by every service.
const WAITING = sql<PurgesWaiting>(`
select wanted.of, count(timers.id)::int as waiting,
       coalesce(extract(epoch from now() - min(timers.created_at)), 0)::float8 as seconds
  from (values ('inbox', 'inbox-purge'), ('organization', 'organization-deletion')) as wanted (of, kind)
  left join timers on timers.kind = wanted.kind
 group by wanted.of`)

/** Inboxes whose address is not free yet, and organizations whose deletion is in progress. */
export function purgeBacklog(db: Db, log: Logger): PurgeBacklog {
  return new PurgeBacklog({ db, log, measure: WAITING })
}
