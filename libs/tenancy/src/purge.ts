import { type Database, PurgeBacklog, type PurgesWaiting, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { purgeStatements, RoundRobinPurger } from './round-robin-purger.ts'
import { forgetAddresses } from './tombstones.ts'

/**
 * What a batch has left of a deleted scope, which decides when the next one is due.
 *
 * - `more`: rows that the batch had no room for. The next batch is due after those of the other organizations.
 * - `pending`: what ends by itself within seconds, such as mail in transit. It is looked at again after a second.
 * - `purged`: only what has to be finished first, such as the delivery of accepted mail. The scope counts as purged, and
 *   is looked at again less and less often.
 * - `ended`: nothing.
 */
export type BatchOutcome = 'more' | 'pending' | 'purged' | 'ended'

/** How a service purges in batches: each is a transaction, and a crash between two loses nothing. */
export interface PurgeInBatches {
  /** Deletes a batch of what the service stores of a deleted inbox. */
  inbox(tx: Tx, inboxUid: string): Promise<BatchOutcome>
  /** Deletes a batch of what the service stores of a deleted organization, apart from its inboxes. */
  organization(tx: Tx, organizationId: string): Promise<BatchOutcome>
}

type Kind = 'inbox' | 'organization'

const INBOXES = purgeStatements(openOf('inbox'))
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

/** How many inboxes and organizations are still to be purged; those that only wait for deliveries do not count. */
export function purgeBacklog(db: Database, log: Logger): PurgeBacklog {
  return new PurgeBacklog({ db, log, measure: WAITING })
}

/**
 * Purges deleted inboxes and organizations in batches, one transaction each: wherever it stops, the next run continues.
 * Organizations are served in rotation, and the inboxes of one before the organization itself.
 */
export class PurgeLoop extends Periodic {
  readonly #inboxes: RoundRobinPurger
  readonly #organizations: RoundRobinPurger

  constructor({ db, log, batches }: { db: Database; log: Logger; batches: PurgeInBatches }) {
    super({ name: 'purge', everyMs: EVERY_MS, log, work: (stopping) => this.purge(stopping) })
    this.#inboxes = new RoundRobinPurger({
      db,
      statements: INBOXES,
      work: async (tx, uid) => {
        await tx.query(NEXT, uid, await batches.inbox(tx, uid), 'inbox')
      },
    })
    this.#organizations = new RoundRobinPurger({
      db,
      statements: ORGANIZATIONS,
      work: async (tx, id) => {
        const addresses = await forgetAddresses(tx, id, ADDRESSES)
        const outcome = await batches.organization(tx, id)
        await tx.query(NEXT, id, addresses === ADDRESSES ? 'more' : outcome, 'organization')
      },
    })
  }

  /** Works until nothing more can be purged now, or the process stops. */
  async purge(stopping?: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping?.aborted; ) {
      const inboxes = await this.#inboxes.round(stopping)
      const organizations = await this.#organizations.round(stopping)
      more = inboxes || organizations
    }
  }
}

/** The scopes of a kind that are not purged to the end: see the partial index `deleted_scopes_open`. */
function openOf(kind: Kind) {
  const open = `kind = '${kind}' and ended_at is null`
  return { table: 'deleted_scopes', id: 'id', owner: 'organization_id', open }
}
