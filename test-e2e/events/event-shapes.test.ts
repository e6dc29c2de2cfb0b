import { PUBLIC_EVENT_TYPES, type PublicEvent, publicEvent } from '@restante/contracts/events'
import { inboxScope, receivedEvent } from '@restante/testkit'
import * as serializers from 'agentmail/serialization'

const scope = inboxScope()
const id = crypto.randomUUID()
const head = { type: 'event', event_id: id } as const
const about = {
  inbox_id: scope.address,
  thread_id: crypto.randomUUID(),
  message_id: '<1@restante.test>',
  timestamp: '2026-03-02T08:20:00.000Z',
}
const recipients = ['ada@customer.test']

/** A document of each type with the members that it must have, and no others. */
const OUTGOING: readonly PublicEvent[] = [
  { ...head, event_type: 'message.sent', send: { ...about, recipients } },
  { ...head, event_type: 'message.delivered', delivery: { ...about, recipients } },
  {
    ...head,
    event_type: 'message.bounced',
    bounce: {
      ...about,
      type: 'Permanent',
      sub_type: 'NoEmail',
      recipients: [{ address: 'ada@customer.test', status: 'bounced' }],
    },
  },
  {
    ...head,
    event_type: 'message.complained',
    complaint: { ...about, type: 'abuse', sub_type: 'spam', recipients },
  },
  { ...head, event_type: 'message.rejected', reject: { ...about, reason: 'Bad content' } },
  { ...head, event_type: 'message.opened', open: about },
  {
    ...head,
    event_type: 'domain.verified',
    domain: {
      domain_id: 'agents.test',
      domain: 'agents.test',
      status: 'VERIFIED',
      ...{ feedback_enabled: true, inbound_enabled: true, subdomains_enabled: false, tracking_enabled: false },
      records: [{ type: 'MX', name: 'agents.test', value: 'mx.restante.test', priority: 10, status: 'VALID' }],
      created_at: about.timestamp,
      updated_at: about.timestamp,
    },
  },
]
const event = {
  event_id: id,
  kind: 'single',
  title: 'Review',
  status: 'confirmed',
  all_day: false,
  start: '2026-03-02T09:00:00',
  end: '2026-03-02T09:30:00',
  timezone: 'Europe/Berlin',
  duration_mode: 'exact',
  duration_value: 1_800_000,
  start_at: '2026-03-02T08:00:00Z',
  end_at: '2026-03-02T08:30:00Z',
  attendee_count: 0,
  uid: `${id}@restante.test`,
  sequence: 0,
  source: 'api',
  created_at: about.timestamp,
  updated_at: about.timestamp,
} as const
const ofCalendar = { ...head, inbox_id: scope.address, calendar_event: event }

/** Events that this release of the client does not know; it hands them over as they are. */
const UNKNOWN_TO_CLIENT: readonly PublicEvent[] = [
  { ...ofCalendar, event_type: 'calendar.event.created' },
  { ...ofCalendar, event_type: 'calendar.event.updated' },
  { ...ofCalendar, event_type: 'calendar.event.deleted' },
  { ...ofCalendar, event_type: 'calendar.event.responded' },
  {
    ...ofCalendar,
    event_type: 'calendar.event.starting',
    event_id: `${id}_single.start`,
    scheduled_at: event.start_at,
  },
  { ...ofCalendar, event_type: 'calendar.event.ending', event_id: `${id}_single.end`, scheduled_at: event.end_at },
]
/** Typed members of what an event is about. */
const OF_MAIL = { inboxId: scope.address, threadId: expect.any(String), timestamp: expect.any(Date) }
const OF_DOMAIN = { domainId: 'agents.test', records: [{ priority: 10 }], createdAt: expect.any(Date) }
/** Members that this release of the client does not know: it hands them over as they are. */
const UNKNOWN: readonly string[] = ['inbound_enabled']
const received = [[], ['spam'], ['blocked'], ['unauthenticated']].map((labels) => receivedEvent(scope, { labels }))
const documents = new Map<string, unknown>([
  ...received.map(({ type, payload }) => [type, payload] as const),
  ...OUTGOING.map((document) => [document.event_type, document] as const),
])

describe('the document of a public event', () => {
  const unknown = new Set<string>(UNKNOWN_TO_CLIENT.map(({ event_type }) => event_type))

  it.each(UNKNOWN_TO_CLIENT)('of $event_type fits its schema, and the public client does not know it', (document) => {
    expect(publicEvent.parse(document)).toEqual(document)
    // When a release of the client knows it, the test below takes its place.
    expect(serializers.WebsocketsSocketResponse.parse(document)).toMatchObject({ ok: false })
  })

  it.each(PUBLIC_EVENT_TYPES.filter((type) => !unknown.has(type)))(
    'of %s fits its schema and that of the public client, which sees typed members',
    (type) => {
      const document = documents.get(type)
      expect(publicEvent.parse(document)).toEqual(document)
      // Without `skipValidation`: the client itself hands over what does not fit as it is, in snake_case.
      const parsed = serializers.WebsocketsSocketResponse.parse(document, { unrecognizedObjectKeys: 'passthrough' })
      expect(parsed).toMatchObject({ ok: true, value: { type: 'event', eventType: type, eventId: expect.any(String) } })
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
      for (const value of Object.values(parsed.value)) {
        if (typeof value !== 'object' || value === null) continue
        expect(value).toMatchObject(type === 'domain.verified' ? OF_DOMAIN : OF_MAIL)
        expect(Object.keys(value).filter((name) => /_./.test(name) && !UNKNOWN.includes(name))).toEqual([])
      }
    },
  )
})
