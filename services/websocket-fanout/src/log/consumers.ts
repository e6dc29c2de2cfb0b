import { PUBLIC_EVENT_TYPES, PUBLIC_TOPICS, type Topic, type TopicDefinition, topics } from '@restante/contracts/events'
import { Consumer, decodeEvent, type Kafka, type RecordedEvent } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { append, type NewEntry } from './store.ts'

interface LogConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  /** Called when the log has grown. */
  readonly notify: () => void
}

/** The documents of every public topic are stored in the log without decoding; internal events are not for streams. */
export function publicEventsConsumer({ kafka, db, notify }: LogConsumerOptions): Consumer<TopicDefinition> {
  return new Consumer({
    kafka,
    db,
    service: 'websocket-fanout',
    topics: PUBLIC_TOPICS,
    name: 'public-events',
    batch: {
      types: PUBLIC_EVENT_TYPES,
      effectMany: async (tx, events) => {
        await append(tx, events.map(publicEntry))
        tx.afterCommit(notify)
      },
    },
  })
}

/** Deleted keys, inboxes and pods become log entries too, so that every instance closes the streams concerned. */
export function tenancyConsumer({ kafka, db, notify }: LogConsumerOptions): Consumer<Topic<'tenancy'>> {
  return new Consumer({
    kafka,
    db,
    service: 'websocket-fanout',
    topic: topics.tenancy,
    batch: {
      types: ['credential.deleted', 'inbox.deleted', 'pod.deleted', 'organization.deleted'],
      effectMany: async (tx, events) => {
        await append(tx, events.flatMap(endEntry))
        tx.afterCommit(notify)
      },
    },
  })
}

function publicEntry(event: RecordedEvent): NewEntry {
  return {
    event_id: event.id,
    kind: 'event',
    type: event.type,
    organization_id: event.routing.organizationId,
    pod_id: event.routing.podId ?? null,
    inbox_uid: event.routing.inboxUid ?? null,
    credential_id: null,
    restricted: [...(event.routing.restricted ?? [])],
    payload: event.value.toString(),
  }
}

function endEntry(recorded: RecordedEvent): NewEntry[] {
  const event = decodeEvent(topics.tenancy, recorded)
  const entry = {
    event_id: event.id,
    type: null,
    organization_id: event.payload.organization_id,
    pod_id: null,
    inbox_uid: null,
    credential_id: null,
    restricted: [],
    payload: '',
  }
  switch (event.type) {
    case 'credential.deleted':
      return [{ ...entry, kind: 'credential_ended', credential_id: event.payload.credential_id }]
    case 'inbox.deleted':
      return [{ ...entry, kind: 'inbox_deleted', inbox_uid: event.payload.inbox_uid }]
    case 'pod.deleted':
      return [{ ...entry, kind: 'pod_deleted', pod_id: event.payload.pod_id }]
    case 'organization.deleted':
      return [{ ...entry, kind: 'organization_deleted' }]
    default:
      return []
  }
}
