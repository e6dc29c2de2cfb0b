import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import { sql, type Tx } from '@restante/service/database'
import type { MessageRow } from './rows/rows.ts'
import { uuidV7 } from './rows/uuid-v7.ts'

/** An event about a stored message. */
export type MailMessageEvent = EventOf<Topic<'mail.messages'>>

type LabelChangeType = 'label.added' | 'label.removed'

/** Labels that a message gains and loses. */
export interface LabelChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Result of a label change, with the message as it is afterwards. */
export interface LabelledMessage {
  readonly message: MessageRow
  readonly change: LabelChange
  readonly at: Date
  /** Number of take-overs of the organization when a caller asked for the change; absent: not a caller, or not known. */
  readonly takeOvers?: number | undefined
}

/** One row of the audit log. */
export interface LabelRecord {
  readonly id: string
  readonly type: LabelChangeType
  readonly label: string
  readonly message: MessageRow
  readonly at: Date
  readonly takeOvers: number | undefined
}

type Column = readonly string[]
const INSERT = sql<
  never,
  [
    ids: Column,
    types: Column,
    labels: Column,
    organizationIds: Column,
    podIds: Column,
    inboxUids: Column,
    messageIds: Column,
    times: Column,
    takeOvers: readonly (number | null)[],
  ]
>(`
insert into label_log (id, type, label, organization_id, pod_id, inbox_uid, message_id, event_at, created_at,
                       take_overs)
select id, type, label, organization_id, pod_id, inbox_uid, message_id, at, at, take_overs
  from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::timestamptz[], $9::int[])
       as change(id, type, label, organization_id, pod_id, inbox_uid, message_id, at, take_overs)`)

/**
 * Removes labels and adds others. A label in both lists is removed; labels that stay keep their position (mail 4.3).
 */
export function changedLabels(
  labels: readonly string[],
  change: LabelChange,
): { labels: string[]; change: LabelChange } {
  const removing = new Set(change.removed)
  const added = [...new Set(change.added)].filter((label) => !removing.has(label) && !labels.includes(label))
  const removed = labels.filter((label) => removing.has(label))
  return { labels: [...labels.filter((label) => !removing.has(label)), ...added], change: { added, removed } }
}

/** The rows of the audit log for a change. */
export function labelRecords({ message, change, at, takeOvers }: LabelledMessage): LabelRecord[] {
  const record = (type: LabelChangeType) => (label: string) => ({ id: uuidV7(), type, label, message, at, takeOvers })
  return [...change.added.map(record('label.added')), ...change.removed.map(record('label.removed'))]
}

/** Writes the audit log of label changes in this transaction, and their events (mail 18). */
export async function logLabels(tx: Tx, outbox: Outbox, labelled: readonly LabelledMessage[]): Promise<void> {
  const records = labelled.flatMap(labelRecords)
  await insertLabelRecords(tx, records)
  await outbox.addAll(tx, topics['mail.messages'], records.map(labelEvent))
}

/** Writes rows of the audit log; the caller records their events. */
export async function insertLabelRecords(tx: Tx, records: readonly LabelRecord[]): Promise<void> {
  if (records.length === 0) return
  await tx.query(
    INSERT,
    records.map(({ id }) => id),
    records.map(({ type }) => type),
    records.map(({ label }) => label),
    records.map(({ message }) => message.organization_id),
    records.map(({ message }) => message.pod_id),
    records.map(({ message }) => message.inbox_uid),
    records.map(({ message }) => message.message_id),
    records.map(({ at }) => at.toISOString()),
    records.map(({ takeOvers }) => takeOvers ?? null),
  )
}

/** The event of a row of the audit log. */
export function labelEvent({ id, type, label, message, at }: LabelRecord): MailMessageEvent {
  const payload = {
    organization_id: message.organization_id,
    pod_id: message.pod_id,
    inbox_id: message.inbox_address,
    event_id: id,
    event_type: type,
    message_id: message.message_id,
    label,
    event_at: at.toISOString(),
    created_at: at.toISOString(),
  }
  return topics['mail.messages'].event(type, payload, { id, time: at, about: message })
}
