import { type EventOf, type ListEntryState, topics } from '@restante/contracts/events'
import type { EntryRow } from './store.ts'

export const listsTopic = topics['mail.lists']

type ListEvent = EventOf<typeof listsTopic>

/** An entry as it is from now on. */
export function changedEvent(row: EntryRow): ListEvent {
  return listsTopic.event('list_entry.changed', stateOf(row), { time: row.updated_at })
}

/** An entry, as events and snapshots describe it. */
export function stateOf(row: EntryRow): ListEntryState {
  const { entry_type, reason, read_only } = row
  return {
    ...identityOf(row),
    version: row.version,
    entry_type,
    ...(reason !== null && { reason }),
    read_only,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The end of an entry, which has its last version. */
export function deletedEvent(row: EntryRow, time: Date): ListEvent {
  const gone = { ...identityOf(row), version: row.version + 1, deleted_at: time.toISOString() }
  return listsTopic.event('list_entry.deleted', gone, { time })
}

function identityOf({ id, organization_id, pod_id, inbox_uid, direction, type, entry }: EntryRow) {
  return {
    organization_id,
    ...(pod_id !== null && { pod_id }),
    ...(inbox_uid !== null && { inbox_uid }),
    entry_id: id,
    direction,
    type,
    entry,
  }
}
