import { randomUUID } from 'node:crypto'
import {
  type DomainEvent,
  type EventOf,
  RESTRICTED_LABELS,
  receivedEventType,
  type Topic,
  type TopicDefinition,
} from '@restante/contracts'
import { type Kafka, recordOf } from '@restante/messaging'

/** Whose event: an inbox with where it belongs. */
export interface InboxScope {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
}

/** An inbox that nobody else has, in its organization's default pod unless told otherwise. */
export function inboxScope(overrides: Partial<InboxScope> = {}): InboxScope {
  const organizationId = overrides.organizationId ?? randomUUID()
  const inboxUid = randomUUID()
  return { organizationId, podId: organizationId, inboxUid, address: `i-${inboxUid}@restante.test`, ...overrides }
}

type MessageEvent = EventOf<Topic<'mail.messages'>>
type TenancyEvent = EventOf<Topic<'tenancy'>>

/** A mail has arrived; its labels decide the type. `text` is its body. */
export function receivedEvent(scope: InboxScope, options: { labels?: string[]; text?: string } = {}): MessageEvent {
  const { labels = [], text = 'Where is it?' } = options
  const id = randomUUID()
  const now = new Date().toISOString()
  const common = {
    inbox_id: scope.address,
    thread_id: randomUUID(),
    labels: ['received', 'unread', ...labels],
    timestamp: now,
    subject: 'Order 1182',
    preview: text.slice(0, 200),
    size: text.length,
    created_at: now,
    updated_at: now,
  }
  const from = 'Ada Ray <ada@customer.test>'
  const message_id = `<${id}@customer.test>`
  const restricted = RESTRICTED_LABELS.filter((label) => labels.includes(label))
  const document = {
    type: 'event' as const,
    event_id: id,
    message: { ...common, message_id, from, from_: from, to: [scope.address], text },
    thread: { ...common, senders: [from], recipients: [scope.address], last_message_id: message_id, message_count: 1 },
  }
  const envelope = mailEnvelope(id, scope, restricted)
  const type = receivedEventType(labels)
  switch (type) {
    case 'message.received':
      return { ...envelope, type, payload: { ...document, event_type: type } }
    case 'message.received.spam':
      return { ...envelope, type, payload: { ...document, event_type: type } }
    case 'message.received.blocked':
      return { ...envelope, type, payload: { ...document, event_type: type } }
    case 'message.received.unauthenticated':
      return { ...envelope, type, payload: { ...document, event_type: type } }
  }
}

/** A sent mail was accepted by its recipient's server. */
export function deliveredEvent(scope: InboxScope): MessageEvent {
  const id = randomUUID()
  return {
    ...mailEnvelope(id, scope, []),
    type: 'message.delivered',
    payload: {
      type: 'event',
      event_type: 'message.delivered',
      event_id: id,
      delivery: {
        inbox_id: scope.address,
        thread_id: randomUUID(),
        message_id: `<${id}@restante.test>`,
        timestamp: new Date().toISOString(),
        recipients: ['ada@customer.test'],
      },
    },
  }
}

function mailEnvelope(id: string, scope: InboxScope, restricted: readonly string[]) {
  const { organizationId, podId, inboxUid } = scope
  return { id, subject: id, key: inboxUid, time: new Date(), routing: { organizationId, podId, inboxUid, restricted } }
}

export function inboxDeletedEvent(scope: InboxScope): TenancyEvent {
  const { organizationId, podId, inboxUid, address } = scope
  return {
    ...tenancyEnvelope(organizationId, inboxUid),
    type: 'inbox.deleted',
    payload: { ...gone(organizationId), pod_id: podId, inbox_uid: inboxUid, address },
  }
}

export function podDeletedEvent(organizationId: string, podId: string): TenancyEvent {
  return {
    ...tenancyEnvelope(organizationId, podId),
    type: 'pod.deleted',
    payload: { ...gone(organizationId), pod_id: podId },
  }
}

export function organizationDeletedEvent(organizationId: string): TenancyEvent {
  return {
    ...tenancyEnvelope(organizationId, organizationId),
    type: 'organization.deleted',
    payload: gone(organizationId),
  }
}

/** Another key took an organization over. @param verified whether its human has confirmed that key. */
export function organizationTakenOverEvent(
  organizationId: string,
  options: { takeOvers?: number; verified?: boolean; at?: Date } = {},
): TenancyEvent {
  const { takeOvers = 1, verified = false, at = new Date() } = options
  return {
    ...tenancyEnvelope(organizationId, organizationId),
    type: 'organization.taken_over',
    payload: {
      organization_id: organizationId,
      version: 2,
      credential_id: randomUUID(),
      take_overs: takeOvers,
      verified,
      at: at.toISOString(),
    },
  }
}

export function credentialDeletedEvent(organizationId: string, credentialId: string): TenancyEvent {
  return {
    ...tenancyEnvelope(organizationId, credentialId),
    type: 'credential.deleted',
    payload: { ...gone(organizationId), credential_id: credentialId },
  }
}

function tenancyEnvelope(organizationId: string, subject: string) {
  return { id: randomUUID(), subject, key: organizationId, time: new Date(), routing: { organizationId } }
}

function gone(organizationId: string) {
  return { organization_id: organizationId, version: 2, deleted_at: new Date().toISOString() }
}

/** Writes events to a topic of the suite in the place of its producer's relay. */
export class EventPublisher {
  readonly #kafka: Kafka
  readonly #producer: ReturnType<Kafka['producer']>
  #connected: Promise<void> | undefined

  constructor(kafka: Kafka) {
    this.#kafka = kafka
    this.#producer = kafka.producer()
  }

  async publish(topic: TopicDefinition, ...events: readonly DomainEvent[]): Promise<void> {
    this.#connected ??= this.#producer.connect()
    await this.#connected
    await this.#producer.send({
      topic: this.#kafka.physical(topic.name),
      acks: -1,
      messages: events.map((event) => ({ ...recordOf(event) })),
    })
  }

  async stop(): Promise<void> {
    await this.#producer.disconnect()
  }
}
