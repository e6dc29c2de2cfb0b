import { randomUUID } from 'node:crypto'
import { receivedEventType } from '@restante/contracts/access'
import { type DomainEvent, type EventOf, type Topic, type TopicDefinition, topics } from '@restante/contracts/events'
import type { Kafka } from '@restante/messaging'
import { recordOf } from '@restante/messaging/testing'

/** The inbox of an event, with its pod and organization. */
export interface InboxScope {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
}

/** An inbox with new ids, in its organization's default pod unless overridden. */
export function inboxScope(overrides: Partial<InboxScope> = {}): InboxScope {
  const organizationId = overrides.organizationId ?? randomUUID()
  const inboxUid = randomUUID()
  return { organizationId, podId: organizationId, inboxUid, address: `i-${inboxUid}@restante.test`, ...overrides }
}

type MessageEvent = EventOf<Topic<'mail.messages'>>
type TenancyEvent = EventOf<Topic<'tenancy'>>

const mailEvent = topics['mail.messages'].event
const tenancyEvent = topics.tenancy.event

/** The event of a received mail. The labels decide the type; `text` is the body. */
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
  const type = receivedEventType(labels)
  const document = {
    type: 'event' as const,
    event_type: type,
    event_id: id,
    message: { ...common, message_id, from, from_: from, to: [scope.address], text },
    thread: { ...common, senders: [from], recipients: [scope.address], last_message_id: message_id, message_count: 1 },
  }
  return mailEvent(type, document, moment(id, scope, labels))
}

/** The event of the deletion of a message, which another event is about. */
export function messageDeletedEvent(
  scope: InboxScope,
  about: MessageEvent,
  options: { deletedAt?: Date } = {},
): MessageEvent {
  const { deletedAt: time = new Date() } = options
  const { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid } = scope
  const payload = {
    ...{ organization_id, pod_id, inbox_uid },
    thread_id: randomUUID(),
    message_id: about.subject,
    size: 1,
    thread_deleted: true,
    deleted_at: time.toISOString(),
  }
  return mailEvent('message.deleted', payload, {
    time,
    about: { organization_id, pod_id, inbox_uid, message_id: about.subject, labels: [] },
  })
}

/** The event of a sent mail that the recipient's server accepted. */
export function deliveredEvent(scope: InboxScope): MessageEvent {
  const id = randomUUID()
  const document = {
    type: 'event' as const,
    event_type: 'message.delivered' as const,
    event_id: id,
    delivery: {
      inbox_id: scope.address,
      thread_id: randomUUID(),
      message_id: `<${id}@restante.test>`,
      timestamp: new Date().toISOString(),
      recipients: ['ada@customer.test'],
    },
  }
  return mailEvent('message.delivered', document, moment(id, scope, []))
}

function moment(id: string, scope: InboxScope, labels: readonly string[]) {
  const { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid } = scope
  return { id, time: new Date(), about: { organization_id, pod_id, inbox_uid, message_id: id, labels } }
}

export function inboxDeletedEvent(scope: InboxScope): TenancyEvent {
  const { organizationId, podId, inboxUid, address } = scope
  const payload = { ...gone(organizationId), pod_id: podId, inbox_uid: inboxUid, address }
  return tenancyEvent('inbox.deleted', payload, { time: new Date() })
}

export function podDeletedEvent(organizationId: string, podId: string): TenancyEvent {
  return tenancyEvent('pod.deleted', { ...gone(organizationId), pod_id: podId }, { time: new Date() })
}

export function organizationDeletedEvent(organizationId: string): TenancyEvent {
  return tenancyEvent('organization.deleted', gone(organizationId), { time: new Date() })
}

/** The event of a take-over of an organization. @param verified whether the human has confirmed the new key. */
export function organizationTakenOverEvent(
  organizationId: string,
  options: { takeOvers?: number; verified?: boolean; at?: Date } = {},
): TenancyEvent {
  const { takeOvers = 1, verified = false, at = new Date() } = options
  const payload = {
    organization_id: organizationId,
    version: 2,
    credential_id: randomUUID(),
    take_overs: takeOvers,
    verified,
    at: at.toISOString(),
  }
  return tenancyEvent('organization.taken_over', payload, { time: new Date() })
}

export function credentialDeletedEvent(organizationId: string, credentialId: string): TenancyEvent {
  const payload = { ...gone(organizationId), credential_id: credentialId }
  return tenancyEvent('credential.deleted', payload, { time: new Date() })
}

function gone(organizationId: string) {
  return { organization_id: organizationId, version: 2, deleted_at: new Date().toISOString() }
}

/** Writes events to a topic of the suite, instead of the producer's relay. */
export class EventPublisher {
  readonly #kafka: Kafka
  readonly #writtenAt: (event: DomainEvent) => Date
  readonly #producer: ReturnType<Kafka['producer']>
  #connected: Promise<void> | undefined

  /** @param writtenAt when a record is said to have reached Kafka; now, by default. */
  constructor(kafka: Kafka, writtenAt: (event: DomainEvent) => Date = () => new Date()) {
    this.#kafka = kafka
    this.#writtenAt = writtenAt
    this.#producer = kafka.producer()
  }

  async publish(topic: TopicDefinition, ...events: readonly DomainEvent[]): Promise<void> {
    this.#connected ??= this.#producer.connect()
    await this.#connected
    await this.#producer.send({
      topic: this.#kafka.physical(topic.name),
      acks: -1,
      messages: events.map((event) => ({
        ...recordOf(event),
        timestamp: String(this.#writtenAt(event).getTime()),
      })),
    })
  }

  async stop(): Promise<void> {
    await this.#producer.disconnect()
  }
}
