import { EVENT_TYPES } from '../src/access/index.ts'
import {
  NO_ORGANIZATION,
  PUBLIC_EVENT_TYPES,
  PUBLIC_TOPICS,
  publicEvent,
  type TopicDefinition,
  tenancyEntity,
  topics,
} from '../src/events/index.ts'
import { LIMITS } from '../src/vocabulary/index.ts'

const all = Object.entries<TopicDefinition>(topics)

describe.each(all)('%s', (key, topic) => {
  it('is keyed by its name and keeps content no longer than the guarantee', () => {
    expect(topic.name).toBe(key)
    expect(topic.retentionMs).toBeLessThanOrEqual(LIMITS.retention.topic)
    expect(topic.partitions).toBeGreaterThan(0)
  })

  it('outlives no mark: a repetition is always recognised', () => {
    expect(topic.retentionMs).toBeLessThan(LIMITS.retention.consumedMark)
  })
})

it('gives each event type to one topic', () => {
  const types = all.flatMap(([, { events }]) => Object.keys(events))
  expect(types.filter((type, index) => types.indexOf(type) !== index)).toEqual([])
})

it('publishes only types that a webhook or a stream can name', () => {
  expect(EVENT_TYPES).toEqual(expect.arrayContaining([...PUBLIC_EVENT_TYPES]))
  expect(PUBLIC_EVENT_TYPES.length).toBeGreaterThan(0)
  for (const { events } of PUBLIC_TOPICS)
    expect(Object.keys(events).some((type) => PUBLIC_EVENT_TYPES.includes(type))).toBe(true)
})

it('keeps internal events of a public topic from webhooks and streams', () => {
  for (const type of ['label.added', 'label.removed', 'message.stored', 'message.deleted']) {
    expect(Object.keys(topics['mail.messages'].events)).toContain(type)
    expect(PUBLIC_EVENT_TYPES).not.toContain(type)
  }
})

it('keeps topics without public events from webhooks and streams', () => {
  const names = PUBLIC_TOPICS.map(({ name }) => name)
  expect(names).toContain('mail.messages')
  for (const name of ['tenancy', 'mail.inbound', 'mail.feedback', 'mail.deliveries', 'mail.lists', 'domains.state'])
    expect(names).not.toContain(name)
})

it('reads a public document by its event type', () => {
  const document = {
    type: 'event',
    event_type: 'message.bounced',
    event_id: 'd0d2b6a4-0000-4000-8000-000000000000',
    bounce: {
      inbox_id: 'desk@example.com',
      thread_id: 'b2a7d3f0-3d5c-4a1e-9f0e-6f5f1a2b3c4d',
      message_id: '<01f0@example.com>',
      timestamp: '2026-03-02T08:20:00.000Z',
      type: 'Permanent',
      sub_type: 'NoEmail',
      recipients: [{ address: 'gone@customer.test', status: 'bounced' }],
    },
  }
  expect(publicEvent.parse(document)).toEqual(document)
  expect(publicEvent.safeParse({ ...document, event_type: 'message.sent' }).success).toBe(false)
})

it('keeps secrets out of the state of a credential', () => {
  const { shape } = topics.tenancy.events['credential.changed'].schema
  for (const name of Object.keys(shape)) expect(name).not.toMatch(/secret|hash|token|^api_key$/)
  expect(tenancyEntity.safeParse({ type: 'credential.changed', payload: {} }).success).toBe(false)
})

describe('the envelope of an event', () => {
  const [organization_id, pod_id, inbox_uid, other_id] = [uuid('1'), uuid('2'), uuid('3'), uuid('4')]
  const inbox = { organization_id, pod_id, inbox_uid }
  const routing = { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid }
  const time = new Date('2026-03-02T08:20:00.000Z')
  const at = time.toISOString()
  const gone = { organization_id, version: 2, deleted_at: at }

  it.each([
    ['organization.deleted', topics.tenancy.event('organization.deleted', gone, { time }), organization_id, []],
    ['pod.deleted', topics.tenancy.event('pod.deleted', { ...gone, pod_id }, { time }), pod_id, ['podId']],
    [
      'inbox.deleted',
      topics.tenancy.event('inbox.deleted', { ...gone, ...inbox, address: 'a@b.test' }, { time }),
      inbox_uid,
      ['podId', 'inboxUid'],
    ],
    [
      'credential.deleted',
      topics.tenancy.event('credential.deleted', { ...gone, credential_id: other_id }, { time }),
      other_id,
      [],
    ],
    [
      'credential.deleted of an inbox',
      topics.tenancy.event('credential.deleted', { ...gone, ...inbox, credential_id: other_id }, { time }),
      other_id,
      ['podId', 'inboxUid'],
    ],
    [
      'organization.taken_over',
      topics.tenancy.event(
        'organization.taken_over',
        { organization_id, version: 2, credential_id: other_id, take_overs: 1, verified: false, at },
        { time },
      ),
      organization_id,
      [],
    ],
  ])('of %s is keyed by the organization and named by what it is about', (_what, event, subject, members) => {
    expect([event.key, event.subject]).toEqual([organization_id, subject])
    expect(Object.keys(event.routing)).toEqual(['organizationId', ...members])
    expect(routing).toMatchObject(event.routing)
  })

  it('of a fact about an accepted mail is keyed by its inbox', () => {
    const payload = { ...inbox, inbound_id: other_id, reason: 'paused' as const, size: 10 }
    const event = topics['mail.inbound'].event('mail.discarded', payload, { time })
    expect(event).toEqual({
      id: expect.any(String),
      type: 'mail.discarded',
      subject: other_id,
      key: inbox_uid,
      time,
      routing,
      payload,
    })
  })

  it('of a delivery is keyed by the inbox that sent, and named by the message', () => {
    const payload = { ...inbox, message_id: '<a@b.test>', thread_id: other_id, timestamp: at, recipients: ['c@d.test'] }
    const { key, subject, ...event } = topics['mail.deliveries'].event('delivery.handed_over', payload, { time })
    expect([key, subject, event.routing]).toEqual([inbox_uid, '<a@b.test>', routing])
  })

  it.each([
    ['an organization', {}, { organizationId: organization_id }],
    ['a pod', { pod_id }, { organizationId: organization_id, podId: pod_id }],
    ['an inbox', { pod_id, inbox_uid }, routing],
  ])('of a list entry of %s is keyed by the organization, and named by the entry', (_whose, scope, routed) => {
    const entry = { direction: 'receive', type: 'block', entry: 'c@d.test' } as const
    const payload = { organization_id, ...scope, entry_id: other_id, version: 1, ...entry, deleted_at: at }
    const event = topics['mail.lists'].event('list_entry.deleted', payload, { time })
    expect([event.key, event.subject, event.routing]).toEqual([organization_id, other_id, routed])
  })

  it.each([
    ['of an organization', {}, { organizationId: organization_id }],
    ['of a pod', { pod_id }, { organizationId: organization_id, podId: pod_id }],
  ])('of a domain %s is keyed and named by its registration', (_whose, scope, routed) => {
    const payload = { organization_id, ...scope, domain_uid: other_id, version: 1, domain: 'a.test', deleted_at: at }
    const event = topics['domains.state'].event('domain.deleted', payload, { time })
    expect([event.key, event.subject, event.routing]).toEqual([other_id, other_id, routed])
  })

  it('of a report names the delivery and no organization', () => {
    const payload = { delivery_id: other_id, received_at: at, recipients: [] }
    const { key, subject, ...event } = topics['mail.feedback'].event('bounce.reported', payload, { time })
    expect([key, subject, event.routing]).toEqual([other_id, other_id, { organizationId: NO_ORGANIZATION }])
  })

  const document = {
    type: 'event' as const,
    event_type: 'message.rejected' as const,
    event_id: other_id,
    reject: { inbox_id: 'a@b.test', thread_id: other_id, message_id: '<a@b.test>', timestamp: at, reason: 'virus' },
  }
  const about = { ...inbox, message_id: '<a@b.test>', labels: ['trash', 'sent', 'spam'] }

  it('of a public event has the id of its document and the restricted labels of the message', () => {
    const event = topics['mail.messages'].event('message.rejected', document, { id: other_id, time, about })
    expect(event).toEqual({
      id: other_id,
      type: 'message.rejected',
      subject: '<a@b.test>',
      key: inbox_uid,
      time,
      routing: { ...routing, restricted: ['spam', 'trash'] },
      payload: document,
    })
  })

  it('of a message whose inbox is deleted keeps its place in the order, and names no inbox to route to', () => {
    const deleted = { ...about, labels: [], inbox_deleted: true }
    const event = topics['mail.messages'].event('message.rejected', document, { time, about: deleted })
    expect(event.key).toBe(inbox_uid)
    expect(event.routing).toEqual({ organizationId: organization_id, podId: pod_id, restricted: [] })
  })
})

function uuid(digit: string): string {
  return `${digit.repeat(8)}-0000-4000-8000-000000000000`
}
