import type { TakeOverState } from '@restante/contracts/events'
import { SYSTEM_LABELS } from '@restante/contracts/vocabulary'
import type { Outbox } from '@restante/messaging'
import { type Database, sql, type Tx } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { deletedAmong, purgeStatements, RoundRobinPurger } from '@restante/tenancy'
import { setLabels } from '../mailbox/changes.ts'
import { changedLabels, logLabels } from '../mailbox/label-log.ts'
import { lockMailboxes } from '../mailbox/lock.ts'
import type { MessageRow } from '../mailbox/rows/rows.ts'
import { firstUuidV7 } from '../mailbox/rows/uuid-v7.ts'
import { takeOvers } from '../take-overs/table.ts'

const PURGE = purgeStatements({
  table: 'label_removals',
  id: 'organization_id',
  owner: 'organization_id',
  open: 'true',
})

const ORDER = sql<never, [organizationId: string, takeOvers: number, madeBefore: string]>(`
insert into label_removals (organization_id, take_overs, made_before) values ($1, $2, $3::timestamptz)
on conflict do nothing`)
interface Progress {
  /** Null: ordered by a process of the release before, which knows only the time. */
  readonly take_overs: number | null
  readonly made_before: Date
  readonly after_inbox: string | null
  readonly after_timestamp: Date | null
  readonly after_id: string | null
}
const PROGRESS = sql<Progress, [organizationId: string]>(
  'select take_overs, made_before, after_inbox, after_timestamp, after_id from label_removals where organization_id = $1',
)
const NEXT = sql<
  MessageRow,
  [
    organizationId: string,
    inbox: string | null,
    timestamp: string | null,
    id: string | null,
    system: readonly string[],
    rows: number,
  ]
>(`
select * from messages
 where inbox_uid = any(array(select distinct inbox_uid from threads where organization_id = $1))
   and ($2::uuid is null or (inbox_uid, "timestamp", id) > ($2::uuid, $3::timestamptz, $4::uuid))
   and exists (select from unnest(labels) as label where label <> all($5::text[]))
 order by inbox_uid, "timestamp", id
 limit $6`)
// A number tells who asked for a label, whenever it was written; a time only where there is no number.
const ADDED_SINCE = sql<
  { inbox_uid: string; message_id: string; label: string },
  [inboxUids: readonly string[], firstId: string, takeOvers: number | null, since: string]
>(`
select inbox_uid, message_id, label from label_log
 where inbox_uid = any($1::uuid[]) and id >= $2 and type = 'label.added'
   and coalesce(take_overs >= $3::int, event_at > $4::timestamptz)`)
const ADVANCE = sql<never, [organizationId: string, inbox: string, timestamp: string, id: string]>(`
update label_removals
   set after_inbox = $2, after_timestamp = $3::timestamptz, after_id = $4, due_at = clock_timestamp()
 where organization_id = $1`)
const DONE = sql<never, [organizationId: string]>('delete from label_removals where organization_id = $1')

const BATCH = 200
const EVERY_MS = 2_000
/** More than the clocks of two services differ by. */
const CLOCKS_MS = 3_600_000

/**
 * Schedules the removal of custom labels from before a take-over, in the transaction that consumes the human's
 * confirmation of the new holder (identity 5.1). Changes that earlier keys have asked for have ended by then, so that the
 * removal sees them, or find the take-over recorded, and add no label.
 */
export async function orderLabelRemoval(
  tx: Tx,
  { organization_id, take_overs, at }: Pick<TakeOverState, 'organization_id' | 'take_overs' | 'at'>,
): Promise<void> {
  await takeOvers.record(tx, organization_id, take_overs)
  await tx.query(ORDER, organization_id, take_overs, at)
}

/**
 * Removes custom labels of earlier holders from the messages of organizations that were taken over. It works in
 * batches, one transaction each: wherever it stops, the next run continues. Labels that the new holder has added stay; the
 * audit log distinguishes them. Organizations are served in rotation.
 */
export class LabelRemoval extends Periodic {
  readonly #outbox: Outbox
  readonly #organizations: RoundRobinPurger

  constructor({ db, outbox, log }: { db: Database; outbox: Outbox; log: Logger }) {
    super({ name: 'label removal', everyMs: EVERY_MS, log, work: (stopping) => this.#remove(stopping) })
    this.#outbox = outbox
    this.#organizations = new RoundRobinPurger({ db, statements: PURGE, work: (tx, id) => this.#removeBatch(tx, id) })
  }

  async #remove(stopping: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping.aborted; ) more = await this.#organizations.round(stopping)
  }

  async #removeBatch(tx: Tx, organizationId: string): Promise<void> {
    const [progress] = await tx.query(PROGRESS, organizationId)
    if (progress === undefined) return
    const { after_inbox, after_timestamp, after_id } = progress
    const after = [after_inbox, after_timestamp?.toISOString() ?? null, after_id] as const
    const next = () => tx.query(NEXT, organizationId, ...after, SYSTEM_LABELS, BATCH)
    const inboxes = [...new Set((await next()).map(({ inbox_uid }) => inbox_uid))]
    await lockMailboxes(tx, inboxes)
    // Read again under the locks: labels may have changed before these were taken.
    const page = await next()
    const held = page.filter(({ inbox_uid }) => inboxes.includes(inbox_uid))
    await this.#removeLabels(tx, held, progress)
    const last = page.at(-1)
    if (last === undefined || page.length < BATCH) await tx.query(DONE, organizationId)
    else await tx.query(ADVANCE, organizationId, last.inbox_uid, last.timestamp.toISOString(), last.id)
  }

  async #removeLabels(tx: Tx, messages: readonly MessageRow[], progress: Progress): Promise<void> {
    const { take_overs, made_before: madeBefore } = progress
    const inboxes = [...new Set(messages.map(({ inbox_uid }) => inbox_uid))]
    const deleted = await deletedAmong(tx, inboxes)
    const firstId = firstUuidV7(madeBefore.getTime() - CLOCKS_MS)
    const own = await tx.query(ADDED_SINCE, inboxes, firstId, take_overs, madeBefore.toISOString())
    const kept = new Set(own.map(({ inbox_uid, message_id, label }) => keyOf(inbox_uid, message_id, label)))
    const at = new Date()
    const labelled = messages
      .filter(({ inbox_uid }) => !deleted.has(inbox_uid))
      .map((message) => {
        const isEarlier = (label: string) =>
          !SYSTEM_LABELS.includes(label) && !kept.has(keyOf(message.inbox_uid, message.message_id, label))
        const { labels, change } = changedLabels(message.labels, {
          added: [],
          removed: message.labels.filter(isEarlier),
        })
        return { message: { ...message, labels, before: message.labels }, change, at }
      })
      .filter(({ change }) => change.removed.length > 0)
    await setLabels(
      tx,
      labelled.map(({ message }) => message),
      at,
    )
    await logLabels(tx, this.#outbox, labelled)
  }
}

function keyOf(inboxUid: string, messageId: string, label: string): string {
  return JSON.stringify([inboxUid, messageId, label])
}
