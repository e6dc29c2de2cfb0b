import {
  type EventOf,
  PUBLIC_EVENT_TYPES,
  PUBLIC_TOPICS,
  type Topic,
  type TopicDefinition,
  topics,
} from '@restante/contracts/events'
import { Consumer, decodeEvent, type Kafka, type RecordedEvent } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { type DeletedMessage, forgetMessages } from './deleted-messages.ts'
import { append, type NewEntry, NO_EVENT } from './store.ts'
import { recordTakeOver } from './take-overs.ts'

interface LogConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  /** Called when the log has grown. */
  readonly notify: () => void
}

const MESSAGE_DELETED = 'message.deleted'

/**
 * The documents of every public topic are stored in the log without decoding. Of internal events, which are not for
 * streams, only the deletion of a message matters: its events leave the log.
 */
export function publicEventsConsumer({ kafka, db, notify }: LogConsumerOptions): Consumer<TopicDefinition> {
  return new Consumer({
    kafka,
    db,
    service: 'websocket-fanout',
    topics: PUBLIC_TOPICS,
    name: 'public-events',
    batch: {
      types: [...PUBLIC_EVENT_TYPES, MESSAGE_DELETED],
      effectMany: async (tx, events) => {
        for (const run of runsOf(events)) {
          if (isDeletion(run[0])) await forgetMessages(tx, run.flatMap(deletedMessage))
          else await append(tx, run.map(publicEntry))
        }
        tx.afterCommit(notify)
      },
    },
  })
}

/**
 * Deleted keys, inboxes and pods and take-overs become log entries too, so that every instance closes the streams
 * concerned.
 */
export function tenancyConsumer({ kafka, db, notify }: LogConsumerOptions): Consumer<Topic<'tenancy'>> {
  return new Consumer({
    kafka,
    db,
    service: 'websocket-fanout',
    topic: topics.tenancy,
    batch: {
      types: ['credential.deleted', 'inbox.deleted', 'pod.deleted', 'organization.deleted', 'organization.taken_over'],
      effectMany: async (tx, recorded) => {
        const events = recorded.map((event) => decodeEvent(topics.tenancy, event))
        await append(tx, events.flatMap(endEntry))
        for (const event of events)
          if (event.type === 'organization.taken_over') await recordTakeOver(tx, event.payload)
        tx.afterCommit(notify)
      },
    },
  })
}

function publicEntry(event: RecordedEvent): NewEntry {
  return {
    ...NO_EVENT,
    event_id: event.id,
    kind: 'event',
    type: event.type,
    organization_id: event.routing.organizationId,
    pod_id: event.routing.podId ?? null,
    inbox_uid: event.routing.inboxUid ?? null,
    restricted: [...(event.routing.restricted ?? [])],
    payload: event.value.toString(),
    subject: event.subject,
    happened_at: event.time.toISOString(),
  }
}

/**
 * Consecutive events of one kind, in order: a message that came again under its id after the deletion is not affected by
 * it.
 */
function runsOf(events: readonly RecordedEvent[]): RecordedEvent[][] {
  const runs: RecordedEvent[][] = []
  for (const event of events) {
    const run = runs.at(-1)
    if (run !== undefined && isDeletion(run[0]) === isDeletion(event)) run.push(event)
    else runs.push([event])
  }
  return runs
}

function isDeletion(event: RecordedEvent | undefined): boolean {
  return event?.type === MESSAGE_DELETED
}

function deletedMessage(recorded: RecordedEvent): DeletedMessage[] {
  const event = decodeEvent(topics['mail.messages'], recorded)
  if (event.type !== MESSAGE_DELETED) return []
  const { inbox_uid, message_id, deleted_at } = event.payload
  return [{ inbox_uid, message_id, deleted_at }]
}

function endEntry(event: EventOf<Topic<'tenancy'>>): NewEntry[] {
  const entry = { ...NO_EVENT, event_id: event.id, organization_id: event.payload.organization_id }
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
