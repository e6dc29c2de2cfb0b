import { registrations } from '@restante/domains'
import type { Outbox } from '@restante/messaging'
import { sql, type Tx } from '@restante/service/database'
import type { BatchOutcome, PurgeInBatches } from '@restante/tenancy'
import { dmarcCounts } from '../dmarc/store.ts'
import { listEntries } from '../lists/store.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import type { RawMailBytes } from '../raw/bytes.ts'
import { copiesOf, rawMails } from '../raw/store.ts'
import { applyDeliveryEvents } from '../sent/apply-delivery-events.ts'
import { pendingDeliveryEvents } from '../sent/store.ts'
import { waitingMails } from '../waiting/store.ts'

const MESSAGES = sql<{ blob: string }, [inboxUid: string, rows: number]>(`
delete from messages
 where id in (select id from messages where inbox_uid = $1 limit $2)
returning blob`)
const THREADS = sql<{ id: string }, [inboxUid: string, rows: number]>(
  'delete from threads where id in (select id from threads where inbox_uid = $1 limit $2) returning id',
)
const LABELS = sql<{ id: string }, [inboxUid: string, rows: number]>(
  'delete from label_log where id in (select id from label_log where inbox_uid = $1 limit $2) returning id',
)
// Copies of sent mail that were being placed concurrently, or that arrived too late. Younger reservations may belong to
// a write in progress, which takes seconds.
const UNPLACED = sql<{ blob: string }, [folder: string, rows: number]>(`
select blob from raw_mails
 where refs = 0 and starts_with(blob, $1) and (size > 0 or updated_at < now() - interval '5 minutes')
 limit $2
   for update skip locked`)
const IN_TRANSIT = sql<{ one: number }, [inboxUid: string, folder: string]>(`
(select 1 as one from inbound where lane = $1 limit 1)
union all
(select 1 from waiting_mails where inbox_uid = $1 limit 1)
union all
(select 1 from raw_mails where refs = 0 and starts_with(blob, $2) limit 1)`)
const FORGET_MAIL = sql<never, [organizationId: string]>(
  'delete from receiving_organizations where organization_id = $1',
)
const FORGET_TAKE_OVERS = sql<never, [organizationId: string]>('delete from take_overs where organization_id = $1')

const BATCH = 500

/**
 * Purges the mail of deleted inboxes, the list entries of all deleted scopes, and the domains of deleted organizations with
 * their DMARC counts.
 * The pipeline discards mail that is still in the queue; the purge ends only after that.
 */
export class MailPurge implements PurgeInBatches {
  readonly #bytes: RawMailBytes
  readonly #outbox: Outbox

  constructor({ bytes, outbox }: { bytes: RawMailBytes; outbox: Outbox }) {
    this.#bytes = bytes
    this.#outbox = outbox
  }

  async inbox(tx: Tx, uid: string): Promise<BatchOutcome> {
    // Without the lock, a concurrent deletion by a caller could release the same bytes again, although other inboxes
    // share them.
    await lockMailbox(tx, uid)
    const messages = await tx.query(MESSAGES, uid, BATCH)
    const released = await rawMails.release(
      tx,
      messages.map(({ blob }) => blob),
    )
    // The pipeline discards them, as it does with mail still in transit.
    await waitingMails.giveBackAll(tx, uid, BATCH)
    const unplaced = await tx.query(UNPLACED, copiesOf(uid), BATCH)
    await this.#bytes.delete(tx, [...released, ...unplaced.map(({ blob }) => blob)])
    const rest = [await tx.query(THREADS, uid, BATCH), await tx.query(LABELS, uid, BATCH)]
    // Their copies will never arrive; their events are passed on to pod and organization (events 1.2 rule 12).
    const listed = await listEntries.deleteOfScope(tx, 'inbox', uid, BATCH)
    const late = await pendingDeliveryEvents.takeOfInbox(tx, uid, BATCH)
    await applyDeliveryEvents(tx, this.#outbox, late)
    const isFull = [messages, unplaced, late, ...rest].some((rows) => rows.length === BATCH) || listed === BATCH
    if (isFull) return 'more'
    return (await tx.query(IN_TRANSIT, uid, copiesOf(uid))).length > 0 ? 'pending' : 'ended'
  }

  async pod(tx: Tx, id: string): Promise<BatchOutcome> {
    return (await listEntries.deleteOfScope(tx, 'pod', id, BATCH)) === BATCH ? 'more' : 'ended'
  }

  /**
   * Apart from the mail of its inboxes, an organization leaves list entries, domains, and the records that it received any
   * mail and was taken over.
   */
  async organization(tx: Tx, id: string): Promise<BatchOutcome> {
    await tx.query(FORGET_MAIL, id)
    await tx.query(FORGET_TAKE_OVERS, id)
    const deleted = [
      await listEntries.deleteOfOrganization(tx, id, BATCH),
      await registrations.deleteOfOrganization(tx, id, BATCH),
      await dmarcCounts.deleteOfOrganization(tx, id, BATCH),
    ]
    return deleted.includes(BATCH) ? 'more' : 'ended'
  }
}
