import { type EventOf, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import { sql } from '@restante/service'
import type { Tx } from '../database.ts'
import type { MessageRow } from './rows.ts'
import { uuidV7 } from './uuid-v7.ts'
import { restrictedAmong } from './visibility.ts'

type LabelChangeType = 'label.added' | 'label.removed'

/** Labels that a message gains and loses. */
export interface LabelChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

const INSERT = sql<
  never,
  [
    ids: readonly string[],
    types: readonly string[],
    labels: readonly string[],
    organizationId: string,
    podId: string,
    inboxUid: string,
    messageId: string,
    at: string,
  ]
>(`
insert into label_log (id, type, label, organization_id, pod_id, inbox_uid, message_id, event_at, created_at)
select id, type, label, $4, $5, $6, $7, $8::timestamptz, $8::timestamptz
  from unnest($1::uuid[], $2::text[], $3::text[]) as change(id, type, label)`)

/** Takes labels away and adds others: what is in both ends up away, present ones stay where they are (mail 4.3). */
export function changedLabels(
  labels: readonly string[],
  change: LabelChange,
): { labels: string[]; change: LabelChange } {
  const removing = new Set(change.removed)
  const added = [...new Set(change.added)].filter((label) => !removing.has(label) && !labels.includes(label))
  const removed = labels.filter((label) => removing.has(label))
  return { labels: [...labels.filter((label) => !removing.has(label)), ...added], change: { added, removed } }
}

/** Writes the audit log of label changes that happen in this transaction, and their events (mail 18). */
export async function logLabels(
  tx: Tx,
  outbox: Outbox,
  message: MessageRow,
  change: LabelChange,
  at: Date,
): Promise<void> {
  const records = [
    ...change.added.map((label) => ({ id: uuidV7(), type: 'label.added' as const, label })),
    ...change.removed.map((label) => ({ id: uuidV7(), type: 'label.removed' as const, label })),
  ]
  if (records.length === 0) return
  await tx.query(
    INSERT,
    records.map(({ id }) => id),
    records.map(({ type }) => type),
    records.map(({ label }) => label),
    message.organization_id,
    message.pod_id,
    message.inbox_uid,
    message.message_id,
    at.toISOString(),
  )
  const events = records.map(({ id, type, label }) => labelEvent(message, id, type, label, at))
  await outbox.addAll(tx, topics['mail.messages'], events)
}

function labelEvent(
  message: MessageRow,
  id: string,
  type: LabelChangeType,
  label: string,
  at: Date,
): EventOf<(typeof topics)['mail.messages']> {
  const common = {
    organization_id: message.organization_id,
    pod_id: message.pod_id,
    inbox_id: message.inbox_address,
    event_id: id,
    message_id: message.message_id,
    label,
    event_at: at.toISOString(),
    created_at: at.toISOString(),
  }
  const envelope = { id, subject: message.message_id, key: message.inbox_uid, time: at, routing: routingOf(message) }
  return type === 'label.added'
    ? { ...envelope, type, payload: { ...common, event_type: type } }
    : { ...envelope, type, payload: { ...common, event_type: type } }
}

/** Routing facts of an event about a message, by the labels it has now. */
export function routingOf(message: Pick<MessageRow, 'organization_id' | 'pod_id' | 'inbox_uid' | 'labels'>) {
  return {
    organizationId: message.organization_id,
    podId: message.pod_id,
    inboxUid: message.inbox_uid,
    restricted: restrictedAmong(message.labels),
  }
}
