import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { Tier } from '@restante/contracts/vocabulary'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import { listEntries } from './store.ts'

type ListsTopic = Topic<'mail.lists'>
type ListEvent = EventOf<ListsTopic>

/**
 * Follows the entries of receive and reply lists. An entry whose inbox, pod or organization is deleted is dropped: the
 * tombstones outlive every late event, and the purge finds what was written before them.
 */
export function listsConsumer({ kafka, db }: { readonly kafka: Kafka; readonly db: Database }): Consumer<ListsTopic> {
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['mail.lists'],
    handlers: {
      'list_entry.changed': { effect: (tx, { payload }) => applyListEntry(tx, payload) },
      'list_entry.deleted': { effect: (tx, { payload }) => applyListEntry(tx, payload, payload.deleted_at) },
    },
  })
}

/** Writes the state of an entry, or its deletion, unless a newer one is known or its scope is deleted. */
export async function applyListEntry(
  tx: Tx,
  payload: ListEvent['payload'],
  deletedAt: string | null = null,
): Promise<void> {
  const { organization_id, pod_id, inbox_uid, entry_id: id, version, direction, type, entry } = payload
  if (direction === 'send') return
  const scopes = [organization_id, pod_id, inbox_uid].filter((scope) => scope !== undefined)
  if (!(await holdScopes(tx, scopes))) return
  const [tier, scope_id] = scopeOf(payload)
  const state = { id, organization_id, tier, scope_id, direction, type, entry, version, deleted_at: deletedAt }
  await listEntries.apply(tx, state)
}

/** Whose list it is: the narrowest scope that an entry names. */
function scopeOf({ organization_id, pod_id, inbox_uid }: ListEvent['payload']): [tier: Tier, id: string] {
  if (inbox_uid !== undefined) return ['inbox', inbox_uid]
  return pod_id === undefined ? ['organization', organization_id] : ['pod', pod_id]
}
