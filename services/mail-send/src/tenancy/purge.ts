import type { BlobStore } from '@restante/blobs'
import { registrations } from '@restante/domains'
import type { Schedule } from '@restante/jobs'
import { sql, type Tx } from '@restante/service/database'
import type { BatchOutcome, PurgeInBatches } from '@restante/tenancy'
import { outboundBlob } from '../delivery/outbound/sends.ts'
import { fileBlob } from '../files/store.ts'
import { DELETE_CHARGES_OF_ORGANIZATION } from '../invitations/charges.ts'
import { DELETE_ENTRIES_OF_ORGANIZATION, listEntries } from '../lists/store.ts'
import { DELETE_REPUTATION_OF_ORGANIZATION } from '../reputation/counts.ts'
import { DELETE_RAMPS_OF_ORGANIZATION } from '../sending/acceptance/new-recipients.ts'
import type { SendTimers } from '../timers/kinds.ts'

type Batch = [owner: string, rows: number]
type Affected = { readonly one: number }

const KEYS_OF_INBOX = sql<Affected, Batch>(`
delete from idempotency_keys
 where (organization_id, key) in (select organization_id, key from idempotency_keys where inbox_uid = $1 limit $2)
returning 1 as one`)
/** Bytes of a file that no draft keeps may arrive after its row was read; deleting them must wait until none can. */
const IS_BEING_WRITTEN = "draft_id is null and touched_at > now() - interval '2 minutes'"
const draftsOf = (owner: 'inbox_uid' | 'organization_id') =>
  sql<{ id: string }, Batch>(
    `delete from drafts where id in (select id from drafts where ${owner} = $1 limit $2) returning id`,
  )
const filesOf = (owner: 'inbox_uid' | 'organization_id') =>
  sql<{ id: string }, Batch>(`
select id from files where ${owner} = $1 and not (${IS_BEING_WRITTEN}) limit $2 for update skip locked`)
const filesLeft = (owner: 'inbox_uid' | 'organization_id') =>
  sql<{ id: string }, [ownerId: string]>(`select id from files where ${owner} = $1 limit 1`)
const DRAFTS = { inbox: draftsOf('inbox_uid'), organization: draftsOf('organization_id') }
const FILES = { inbox: filesOf('inbox_uid'), organization: filesOf('organization_id') }
const FILES_LEFT = { inbox: filesLeft('inbox_uid'), organization: filesLeft('organization_id') }
const FORGET_FILES = sql<never, [ids: readonly string[]]>('delete from files where id = any($1::uuid[])')
// A few windows at most.
const FORGET_COUNTS = sql<never, [tier: string, scopeId: string]>(
  'delete from send_counts where tier = $1 and scope_id = $2',
)
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

// Messages first: a message still being delivered may yet lead to a suppression.
const OF_ORGANIZATION = [
  `delete from sends where id in (select id from sends where organization_id = $1 and dropped_at is not null limit $2)
   returning 1 as one`,
  `delete from idempotency_keys where (organization_id, key) in
    (select organization_id, key from idempotency_keys where organization_id = $1 limit $2) returning 1 as one`,
  DELETE_ENTRIES_OF_ORGANIZATION,
  `delete from take_overs where organization_id in
    (select organization_id from take_overs where organization_id = $1 limit $2) returning 1 as one`,
  // Before refusals, as the outcomes of deliveries are recorded.
  ...DELETE_REPUTATION_OF_ORGANIZATION,
  `delete from refusals where (organization_id, address) in
    (select organization_id, address from refusals where organization_id = $1 limit $2) returning 1 as one`,
  `delete from send_counts where ctid = any(array(
    select ctid from send_counts where organization_id = $1 limit $2)) returning 1 as one`,
  ...DELETE_RAMPS_OF_ORGANIZATION,
  DELETE_CHARGES_OF_ORGANIZATION,
].map((text) => sql<Affected, Batch>(text))
const SENDS_LEFT = sql<{ id: string }, [organizationId: string]>(
  'select id from sends where organization_id = $1 limit 1',
)

const BATCH = 500
/** Blobs that are deleted in one call. */
const AT_ONCE = 50

/**
 * Purges the data of deleted inboxes and organizations. Accepted messages stay until they are delivered, and their
 * recipients are kept for reports to the pod and the organization (identity 10.1); with the organization these are
 * deleted too.
 */
export class SendPurge implements PurgeInBatches {
  readonly #blobs: BlobStore
  readonly #timers: Schedule<SendTimers>

  constructor(blobs: BlobStore, timers: Schedule<SendTimers>) {
    this.#blobs = blobs
    this.#timers = timers
  }

  async inbox(tx: Tx, uid: string): Promise<BatchOutcome> {
    const keys = await tx.query(KEYS_OF_INBOX, uid, BATCH)
    const copies = await tx.query(COPIES, uid, BATCH)
    const delivered = await tx.query(DELIVERED, uid, BATCH)
    await this.#drop(
      tx,
      delivered.map(({ id }) => id),
    )
    await tx.query(FORGET_COUNTS, 'inbox', uid)
    const listed = await listEntries.deleteOfScope(tx, 'inbox', uid, BATCH)
    const drafted = await this.#drafts(tx, 'inbox', uid)
    if (listed === BATCH || drafted === 'more' || [keys, copies, delivered].some((rows) => rows.length === BATCH))
      return 'more'
    const left = [...(await tx.query(ON_ITS_WAY, uid)), ...(await tx.query(FILES_LEFT.inbox, uid))]
    return left.length > 0 ? 'purged' : 'ended'
  }

  async pod(tx: Tx, id: string): Promise<BatchOutcome> {
    await tx.query(FORGET_COUNTS, 'pod', id)
    return (await listEntries.deleteOfScope(tx, 'pod', id, BATCH)) === BATCH ? 'more' : 'ended'
  }

  async organization(tx: Tx, id: string): Promise<BatchOutcome> {
    let full = (await this.#drafts(tx, 'organization', id)) === 'more'
    for (const statement of OF_ORGANIZATION) {
      if ((await tx.query(statement, id, BATCH)).length === BATCH) full = true
    }
    if ((await registrations.deleteOfOrganization(tx, id, BATCH)) === BATCH) full = true
    if (full) return 'more'
    const left = [...(await tx.query(SENDS_LEFT, id)), ...(await tx.query(FILES_LEFT.organization, id))]
    return left.length > 0 ? 'purged' : 'ended'
  }

  /** Drafts with their timers, and files, whoever keeps them. */
  async #drafts(tx: Tx, owner: 'inbox' | 'organization', id: string): Promise<'more' | 'ended'> {
    const drafts = (await tx.query(DRAFTS[owner], id, BATCH)).map((row) => row.id)
    await this.#timers.cancelIdle(tx, 'draft-send', drafts)
    const files = (await tx.query(FILES[owner], id, BATCH)).map((row) => row.id)
    await this.#deleteBlobs(files.map(fileBlob))
    await tx.query(FORGET_FILES, files)
    return drafts.length === BATCH || files.length === BATCH ? 'more' : 'ended'
  }

  async #drop(tx: Tx, ids: readonly string[]): Promise<void> {
    await this.#deleteBlobs(ids.map(outboundBlob))
    await tx.query(DROPPED, ids)
  }

  /** Bytes are deleted before their rows: a crash in between deletes them again. */
  async #deleteBlobs(names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += AT_ONCE) {
      await Promise.all(names.slice(from, from + AT_ONCE).map((name) => this.#blobs.delete(name)))
    }
  }
}
