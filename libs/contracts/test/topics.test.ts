import {
  EVENT_TYPES,
  isPublicEventType,
  LIMITS,
  publicEvent,
  type TopicDefinition,
  tenancyEntity,
  topics,
} from '../src/index.ts'

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

it('publishes only known types, from the mailbox', () => {
  const known: readonly string[] = EVENT_TYPES
  for (const [name, { events }] of all) {
    for (const type of Object.keys(events).filter(isPublicEventType)) {
      expect(name).toBe('mail.messages')
      expect(known).toContain(type)
    }
  }
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
