import { randomUUID } from 'node:crypto'
import { type DomainEvent, type EventOf, type Topic, type TopicDefinition, topics } from '@restante/contracts/events'
import type { CountedEventType } from '@restante/contracts/vocabulary'
import type { InboxScope } from '@restante/testkit'

/** An event and the topic that carries it. */
export interface Happening {
  readonly topic: TopicDefinition
  readonly event: DomainEvent
}

type MailEventType = Exclude<CountedEventType, 'domain.verified'>

const named = ({ organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid }: InboxScope) => ({
  organization_id,
  pod_id,
  inbox_uid,
})

function aboutMail({ address }: InboxScope, at: Date) {
  const [thread_id, message_id] = [randomUUID(), `<${randomUUID()}@restante.test>`]
  return { inbox_id: address, thread_id, message_id, timestamp: at.toISOString() }
}

/** A public event about a mail, as the mailbox publishes it. @param inboxDeleted whether its inbox was deleted before. */
export function mail(scope: InboxScope, type: MailEventType, at: Date, inboxDeleted = false): Happening {
  const id = randomUUID()
  const about = aboutMail(scope, at)
  const facts = {
    ...named(scope),
    message_id: about.message_id,
    labels: [],
    ...(inboxDeleted && { inbox_deleted: true }),
  }
  const moment = { id, time: at, about: facts }
  const topic = topics['mail.messages']
  const recipients = ['ada@customer.test']
  const head = <Type extends MailEventType>(event_type: Type) => ({ type: 'event' as const, event_type, event_id: id })
  switch (type) {
    case 'message.sent':
      return { topic, event: topic.event(type, { ...head(type), send: { ...about, recipients } }, moment) }
    case 'message.delivered':
      return { topic, event: topic.event(type, { ...head(type), delivery: { ...about, recipients } }, moment) }
    case 'message.bounced': {
      const refused = [{ address: 'ada@customer.test', status: 'bounced' as const }]
      const bounce = { ...about, type: 'Permanent' as const, sub_type: 'NoEmail' as const, recipients: refused }
      return { topic, event: topic.event(type, { ...head(type), bounce }, moment) }
    }
    case 'message.complained': {
      const complaint = { ...about, type: 'abuse', sub_type: 'abuse', recipients }
      return { topic, event: topic.event(type, { ...head(type), complaint }, moment) }
    }
    case 'message.rejected':
      return { topic, event: topic.event(type, { ...head(type), reject: { ...about, reason: 'virus' } }, moment) }
    default:
      return { topic, event: topic.event(type, { ...head(type), ...received(about, scope) }, moment) }
  }
}

function received({ timestamp, ...about }: ReturnType<typeof aboutMail>, { address }: InboxScope) {
  const from = 'Ada <ada@customer.test>'
  const common = {
    ...{ inbox_id: about.inbox_id, thread_id: about.thread_id, timestamp, labels: ['received'], preview: 'Hello' },
    ...{ subject: 'Hello', size: 5, created_at: timestamp, updated_at: timestamp },
  }
  return {
    message: { ...common, message_id: about.message_id, from, from_: from, to: [address], text: 'Hello' },
    thread: { ...common, senders: [from], recipients: [address], last_message_id: about.message_id, message_count: 1 },
  }
}

/** A message is in its mailbox, or was deleted from it. */
export function storage(
  scope: InboxScope,
  type: 'message.stored' | 'message.deleted',
  at: Date,
  { size = 1_000, thread = true }: { readonly size?: number; readonly thread?: boolean } = {},
): Happening {
  const topic = topics['mail.messages']
  const message_id = `<${randomUUID()}@restante.test>`
  const payload = { ...named(scope), thread_id: randomUUID(), message_id, size }
  const moment = { time: at, about: { ...named(scope), message_id, labels: [] } }
  const time = at.toISOString()
  if (type === 'message.deleted') {
    return { topic, event: topic.event(type, { ...payload, thread_deleted: thread, deleted_at: time }, moment) }
  }
  const stored = { ...payload, direction: 'received' as const, thread_created: thread, stored_at: time }
  return { topic, event: topic.event(type, stored, moment) }
}

/** A draft was changed, and has so many bytes more than before. */
export function draft(scope: InboxScope, at: Date, grown: number): Happening {
  const topic = topics['mail.drafts']
  const time = at.toISOString()
  const payload = {
    ...{ ...named(scope), draft_id: randomUUID(), version: 1, kind: 'new' as const, grown },
    ...{ size: Math.max(grown, 0), recipients: 1, created_at: time, updated_at: time },
  }
  return { topic, event: topic.event('draft.changed', payload, { time: at }) }
}

type Fact = EventOf<Topic<'mail.deliveries'>>['type'] & `delivery.${'handed_over' | 'bounced' | 'complained'}`

/** What else a fact about sent mail may say. */
interface Marks {
  readonly type?: 'Permanent' | 'Transient'
  /** Whether it is about addresses of the installation. */
  readonly isInside?: boolean
  readonly isUnproven?: boolean
}

/** A fact about sent mail, and so many of its recipients. */
export function delivery(scope: InboxScope, type: Fact, at: Date, recipients = 1, marks: Marks = {}): Happening {
  const topic = topics['mail.deliveries']
  const { inbox_id: _, ...about } = aboutMail(scope, at)
  const of = Array.from({ length: recipients }, (_value, index) => `r${index}@customer.test`)
  const payload = { ...named(scope), ...about, recipients: of }
  const { type: bounce = 'Permanent', isInside = false } = marks
  const proof = marks.isUnproven === true ? { unproven: true as const } : {}
  const moment = { time: at }
  switch (type) {
    case 'delivery.handed_over':
      return { topic, event: topic.event(type, { ...payload, ...(isInside && { inside: recipients }) }, moment) }
    case 'delivery.bounced': {
      const bounced = { ...payload, ...proof, ...(isInside && { inside: true as const }) }
      return { topic, event: topic.event(type, { ...bounced, type: bounce, sub_type: 'General' }, moment) }
    }
    case 'delivery.complained':
      return { topic, event: topic.event(type, { ...payload, ...proof, type: 'abuse', sub_type: 'abuse' }, moment) }
  }
}

/** A domain of an organization, or of one of its pods. */
export interface DomainScope {
  readonly organizationId: string
  readonly podId?: string
  readonly domainUid: string
}

function domainFacts({ organizationId: organization_id, podId: pod_id, domainUid: domain_uid }: DomainScope) {
  return { organization_id, domain_uid, ...(pod_id !== undefined && { pod_id }) }
}

export function domainVerified(scope: DomainScope, at: Date): Happening {
  const topic = topics['domains.events']
  const [id, time] = [randomUUID(), at.toISOString()]
  const domain = {
    ...{ domain_id: 'mail.customer.test', domain: 'mail.customer.test', status: 'VERIFIED' as const, records: [] },
    ...{ feedback_enabled: true, inbound_enabled: true, subdomains_enabled: false, tracking_enabled: false },
    ...{ created_at: time, updated_at: time },
  }
  const document = { type: 'event' as const, event_type: 'domain.verified' as const, event_id: id, domain }
  return { topic, event: topic.event('domain.verified', document, { id, time: at, about: domainFacts(scope) }) }
}

export function domainCreated(scope: DomainScope, at: Date): Happening {
  const topic = topics['domains.state']
  const time = at.toISOString()
  const payload = {
    ...{ ...domainFacts(scope), version: 1, domain: 'mail.customer.test', status: 'PENDING' as const },
    ...{ inbound_enabled: true, subdomains_enabled: false, feedback_enabled: true, tracking_enabled: false },
    ...{ proven: false, sending_ready: false, return_path: 'bounces.mail.customer.test' },
    ...{ created_at: time, updated_at: time },
  }
  return { topic, event: topic.event('domain.changed', payload, { time: at }) }
}

export function domainDeleted(scope: DomainScope, at: Date): Happening {
  const topic = topics['domains.state']
  const payload = { ...domainFacts(scope), version: 9, domain: 'mail.customer.test', deleted_at: at.toISOString() }
  return { topic, event: topic.event('domain.deleted', payload, { time: at }) }
}

/** A pod or an inbox was created, or changed long afterwards. */
export function created(kind: 'pod' | 'inbox', scope: InboxScope, at: Date): Happening {
  const topic = topics.tenancy
  const { organization_id, pod_id, inbox_uid } = named(scope)
  const times = { created_at: at.toISOString(), updated_at: at.toISOString() }
  if (kind === 'pod') {
    const pod = { organization_id, pod_id, version: 1, name: 'Team', ...times }
    return { topic, event: topic.event('pod.changed', pod, { time: at }) }
  }
  const inbox = {
    ...{ organization_id, pod_id, inbox_uid, version: 1 },
    address: scope.address,
    status: 'active' as const,
  }
  return { topic, event: topic.event('inbox.changed', { ...inbox, ...times }, { time: at }) }
}

/** An inbox, its pod or its organization was deleted. */
export function deleted(kind: 'organization' | 'pod' | 'inbox', scope: InboxScope, at: Date): Happening {
  const topic = topics.tenancy
  const { organization_id, pod_id, inbox_uid } = named(scope)
  const gone = { organization_id, version: 2, deleted_at: at.toISOString() }
  const moment = { time: at }
  if (kind === 'organization') return { topic, event: topic.event('organization.deleted', gone, moment) }
  if (kind === 'pod') return { topic, event: topic.event('pod.deleted', { ...gone, pod_id }, moment) }
  const { address } = scope
  return { topic, event: topic.event('inbox.deleted', { ...gone, pod_id, inbox_uid, address }, moment) }
}
