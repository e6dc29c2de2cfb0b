import { type Database, PurgeBacklog, type PurgesWaiting, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { type PurgeStatements, purgeStatements, RoundRobinPurger } from './round-robin-purger.ts'
import { forgetAddresses } from './tombstones.ts'

/**
 * What remains of a deleted scope after a batch, which determines when the next batch is due.
 *
 * - `more`: further rows. The next batch is due at once, in rotation with those of other organizations.
 * - `pending`: data that disappears by itself within seconds, such as mail in transit. The next batch is due after a
 *   second.
 * - `purged`: only accepted work that must be finished first, such as the delivery of accepted mail. The scope counts
 *   as purged, and is checked again at growing intervals.
 * - `ended`: nothing.
 */
export type BatchOutcome = 'more' | 'pending' | 'purged' | 'ended'

/**
 * Deletes a service's data in batches. Each batch is a transaction of its own, so a crash between two batches loses
 * nothing.
 */
export interface PurgeInBatches {
  /** Deletes one batch of a deleted inbox's data. */
  inbox(tx: Tx, inboxUid: string): Promise<BatchOutcome>
  /** Deletes one batch of a deleted organization's data. The data of its inboxes is purged separately. */
  organization(tx: Tx, organizationId: string): Promise<BatchOutcome>
  /**
   * Deletes one batch of the data that belongs to a deleted pod itself, and to none of its inboxes. Absent in a service
   * that has no such data.
   */
  pod?(tx: Tx, podId: string): Promise<BatchOutcome>
}

type Kind = 'inbox' | 'pod' | 'organization'

const INBOXES = purgeStatements(openOf('inbox'))
const PODS = purgeStatements(openOf('pod'))
const ORGANIZATIONS = purgeStatements(openOf('organization'))

const NEXT = sql<never, [id: string, outcome: BatchOutcome, kind: Kind]>(`
update deleted_scopes
   set purged_at = coalesce(purged_at, case when $2::text in ('purged', 'ended') then now() end),
       ended_at = case when $2::text = 'ended' then now() end,
       due_at = clock_timestamp() + case $2::text
         when 'pending' then interval '1 second'
         when 'purged' then greatest(interval '2 seconds', least(interval '10 minutes', (now() - deleted_at) / 4))
         else interval '0' end
 where id = $1 and kind = $3`)
const WAITING = sql<PurgesWaiting>(`
select kinds.of, count(id)::int as waiting,
       coalesce(extract(epoch from now() - min(deleted_at)), 0)::float8 as seconds
  from (values ('inbox'), ('organization')) as kinds (of)
  left join deleted_scopes on kind = kinds.of and ended_at is null and purged_at is null
 group by kinds.of`)

const ADDRESSES = 1_000
const EVERY_MS = 2_000

/**
 * Counts the inboxes and organizations that are still to be purged. Those in which only accepted work is left do not
 * count.
 */
export function purgeBacklog(db: Database, log: Logger): PurgeBacklog {
  return new PurgeBacklog({ db, log, measure: WAITING })
}

/**
 * Purges deleted inboxes, pods and organizations in batches, one transaction each: wherever it stops, the next run
 * continues. Each round serves deleted inboxes first, then pods, then organizations, each in rotation of the organizations.
 */
export class PurgeLoop extends Periodic {
  /** In the order of a round. */
  readonly #purgers: readonly RoundRobinPurger[]

  constructor({ db, log, batches }: { db: Database; log: Logger; batches: PurgeInBatches }) {
    super({ name: 'purge', everyMs: EVERY_MS, log, work: (stopping) => this.purge(stopping) })
    const purger = (kind: Kind, statements: PurgeStatements, batch: (tx: Tx, id: string) => Promise<BatchOutcome>) =>
      new RoundRobinPurger({
        db,
        statements,
        work: async (tx, id) => {
          await tx.query(NEXT, id, await batch(tx, id), kind)
        },
      })
    this.#purgers = [
      purger('inbox', INBOXES, (tx, uid) => batches.inbox(tx, uid)),
      purger('pod', PODS, async (tx, id) => batches.pod?.(tx, id) ?? 'ended'),
      purger('organization', ORGANIZATIONS, async (tx, id) => {
        const addresses = await forgetAddresses(tx, id, ADDRESSES)
        const outcome = await batches.organization(tx, id)
        return addresses === ADDRESSES ? 'more' : outcome
      }),
    ]
  }

  /** Purges until no scope is due, or the process stops. */
  async purge(stopping?: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping?.aborted; ) {
      more = false
      for (const purger of this.#purgers) if (await purger.round(stopping)) more = true
    }
  }
}

/** The scopes of one kind whose purge has not ended. The condition matches the partial index `deleted_scopes_open`. */
function openOf(kind: Kind) {
  const open = `kind = '${kind}' and ended_at is null`
  return { table: 'deleted_scopes', id: 'id', owner: 'organization_id', open }
}
