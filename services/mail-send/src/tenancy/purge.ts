import type { BlobStore } from '@restante/blobs'
import {
  type Database,
  inboxesWaiting,
  type Logger,
  Periodic,
  PurgeBacklog,
  purgeStatements,
  RoundRobinPurger,
  sql,
  type Tx,
} from '@restante/service'
import { outboundBlob } from '../delivery/outbound/sends.ts'

type Batch = [owner: string, rows: number]
type Affected = { readonly one: number }

/** See the partial index `deleted_inboxes_open`. */
const INBOXES = {
  table: 'deleted_inboxes',
  id: 'inbox_uid',
  owner: 'organization_id',
  open: 'ended_at is null',
}
const INBOX_TURNS = purgeStatements(INBOXES)
const WAITING = inboxesWaiting(`${INBOXES.open} and purged_at is null`)
const KEYS_OF_INBOX = sql<Affected, Batch>(`
delete from idempotency_keys
 where (organization_id, key) in (select organization_id, key from idempotency_keys where inbox_uid = $1 limit $2)
returning 1 as one`)
const COPIES = sql<Affected, Batch>(`
update sends set copy = null
 where id in (select id from sends where inbox_uid = $1 and copy is not null limit $2)
returning 1 as one`)
const DELIVERED = sql<{ id: string }, Batch>(`
select id from sends
 where inbox_uid = $1 and dropped_at is null
   and not exists (select from deliveries
                    where send_id = sends.id and state in ('queued', 'handing_over', 'deferred'))
 limit $2
   for update skip locked`)
const DROPPED = sql<never, [ids: readonly string[]]>('update sends set dropped_at = now() where id = any($1::uuid[])')
const ON_ITS_WAY = sql<{ id: string }, [inboxUid: string]>(
  'select id from sends where inbox_uid = $1 and dropped_at is null limit 1',
)
const INBOX_TURN = sql<never, [inboxUid: string, full: boolean, waiting: boolean]>(
  turnOf('deleted_inboxes', 'inbox_uid'),
)
const INBOX_PURGED = sql<never, [inboxUid: string]>(
  'update deleted_inboxes set purged_at = now() where inbox_uid = $1 and purged_at is null',
)

const NEXT_ORGANIZATION = sql<{ id: string }>(`
select organization_id as id from deleted_organizations
 where ended_at is null and due_at <= now()
 order by due_at limit 1
   for update skip locked`)
// Messages first: a message still being delivered may yet lead to a suppression.
const OF_ORGANIZATION = [
  `delete from sends where id in (select id from sends where organization_id = $1 and dropped_at is not null limit $2)
   returning 1 as one`,
  `delete from idempotency_keys where (organization_id, key) in
    (select organization_id, key from idempotency_keys where organization_id = $1 limit $2) returning 1 as one`,
  `delete from suppressions where (organization_id, address) in
    (select organization_id, address from suppressions where organization_id = $1 limit $2) returning 1 as one`,
  `delete from daily_counts where (organization_id, day) in
    (select organization_id, day from daily_counts where organization_id = $1 limit $2) returning 1 as one`,
].map((text) => sql<Affected, Batch>(text))
const SENDS_LEFT = sql<{ id: string }, [organizationId: string]>(
  'select id from sends where organization_id = $1 limit 1',
)
const ORGANIZATION_TURN = sql<never, [organizationId: string, full: boolean, waiting: boolean]>(
  turnOf('deleted_organizations', 'organization_id'),
)

const BATCH = 500
/** Blobs that are deleted in one call. */
const AT_ONCE = 50
const EVERY_MS = 2_000

/** How many inboxes are still to be purged, for the metrics; those that wait for deliveries do not count. */
export function purgeBacklog(db: Database, log: Logger): PurgeBacklog {
  return new PurgeBacklog({ db, log, measure: WAITING })
}

/**
 * Purges the data of deleted inboxes and organizations in batches, one transaction each: wherever it stops, the next
 * run continues. Organizations are served in rotation. Accepted messages stay until they are delivered, and their
 * recipients are kept for reports to the pod and the organization (identity 10.1); with the organization these are
 * deleted too.
 */
export class Purge extends Periodic {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #inboxes: RoundRobinPurger

  constructor(options: { db: Database; blobs: BlobStore; log: Logger }) {
    super({ name: 'purge', everyMs: EVERY_MS, log: options.log, work: (stopping) => this.purge(stopping) })
    this.#db = options.db
    this.#blobs = options.blobs
    this.#inboxes = new RoundRobinPurger({
      db: options.db,
      statements: INBOX_TURNS,
      work: (tx, uid) => this.#purgeInbox(tx, uid),
    })
  }

  /** Works until nothing more can be purged now, or the process stops. */
  async purge(stopping?: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping?.aborted; ) {
      const inboxes = await this.#inboxes.round(stopping)
      const organization = await this.#db.transaction(purgeOrganization)
      more = inboxes || organization
    }
  }

  async #purgeInbox(tx: Tx, uid: string): Promise<void> {
    const keys = await tx.query(KEYS_OF_INBOX, uid, BATCH)
    const copies = await tx.query(COPIES, uid, BATCH)
    const delivered = await tx.query(DELIVERED, uid, BATCH)
    await this.#drop(
      tx,
      delivered.map(({ id }) => id),
    )
    const full = [keys, copies, delivered].some((rows) => rows.length === BATCH)
    if (!full) await tx.query(INBOX_PURGED, uid)
    await tx.query(INBOX_TURN, uid, full, (await tx.query(ON_ITS_WAY, uid)).length > 0)
  }

  /** Bytes are deleted before the row: a crash in between deletes them again. */
  async #drop(tx: Tx, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => this.#blobs.delete(outboundBlob(id))))
    }
    await tx.query(DROPPED, ids)
  }
}

async function purgeOrganization(tx: Tx): Promise<boolean> {
  const [organization] = await tx.query(NEXT_ORGANIZATION)
  if (!organization) return false
  let full = false
  for (const statement of OF_ORGANIZATION) {
    if ((await tx.query(statement, organization.id, BATCH)).length === BATCH) full = true
  }
  await tx.query(ORGANIZATION_TURN, organization.id, full, (await tx.query(SENDS_LEFT, organization.id)).length > 0)
  return true
}

/**
 * When an owner is served next: after the others when more is to be done, later the longer it waits for its messages to
 * be delivered, and never when nothing is left.
 */
function turnOf(table: string, key: string): string {
  return `
update ${table}
   set ended_at = case when not $2::boolean and not $3::boolean then now() end,
       due_at = clock_timestamp() + case when $2 then interval '0'
         else greatest(interval '2 seconds', least(interval '10 minutes', (now() - deleted_at) / 4)) end
 where ${key} = $1`
}
