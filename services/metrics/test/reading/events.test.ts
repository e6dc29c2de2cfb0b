import { randomUUID } from 'node:crypto'
import { COUNTED_EVENT_TYPES, type CountedEventType } from '@restante/contracts/vocabulary'
import { type InboxScope, inboxScope } from '@restante/testkit'
import { type MetricsFixture, startMetrics, viewer } from '../support/fixture.ts'
import { domainVerified, mail } from '../support/happenings.ts'

const [SECOND, HOUR, DAY] = [1_000, 3_600_000, 86_400_000]
/** Three hours ago, at an odd millisecond. */
const BASE = Date.now() - 3 * HOUR - 7

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics()
})
afterAll(() => metrics.stop())

const at = (ms: number) => new Date(BASE + ms)
const iso = (ms: number) => at(ms).toISOString()
const sent = (scope: InboxScope, ...times: number[]) => times.map((ms) => mail(scope, 'message.sent', at(ms)))
const events = (scope: InboxScope, query: string | Record<string, string>) =>
  metrics.read('metrics.listEvents', scope, 'organization', query)

describe('events by period', () => {
  let scope: InboxScope
  beforeAll(async () => {
    scope = inboxScope()
    await metrics.count(...sent(scope, 0, 1, 9_999, 10_000, 35_000, 35_000, 60_000))
  })
  const query = { event_types: 'message.sent', start: new Date(BASE).toISOString(), period: '10' }

  it('counts in a grid from `start`, which holds its start and not its end, and leaves empty periods out', async () => {
    const end = iso(60_000)
    expect(await events(scope, { ...query, end })).toEqual({
      'message.sent': [
        { timestamp: iso(0), count: 3 },
        { timestamp: iso(10_000), count: 1 },
        { timestamp: iso(30_000), count: 2 },
      ],
    })
  })

  it('ends the last period at `end`, although the grid goes on', async () => {
    const cut = { ...query, start: iso(1), end: iso(35_000) }
    expect(await events(scope, cut)).toEqual({
      'message.sent': [{ timestamp: iso(1), count: 3 }],
    })
  })

  it('takes `limit` entries from the start of the chosen order', async () => {
    const times = async (more: Record<string, string>) =>
      (await events(scope, { ...query, ...more }))['message.sent']?.map(({ timestamp }) => timestamp)
    expect(await times({ limit: '2' })).toEqual([iso(0), iso(10_000)])
    expect(await times({ limit: '2', descending: 'true' })).toEqual([iso(60_000), iso(30_000)])
    expect(await times({ descending: 'true' })).toEqual([iso(60_000), iso(30_000), iso(10_000), iso(0)])
  })

  it('finds sparse events in the shortest and the longest period, over 90 days', async () => {
    const start = new Date(Date.now() - 90 * DAY + HOUR).toISOString()
    for (const period of ['1', '86400']) {
      const found = (await events(scope, { ...query, start, period }))['message.sent'] ?? []
      expect(found.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(7)
      const apart = found.map(
        ({ timestamp }) => (Date.parse(timestamp) - Date.parse(start)) % (Number(period) * SECOND),
      )
      expect(new Set(apart)).toEqual(new Set([0]))
    }
  })

  it('has entries from near the beginning of its order and from the rest of 90 days, each once', async () => {
    const sparse = inboxScope()
    const start = Date.now() - 90 * DAY + HOUR
    const time = (days: number) => new Date(start + days * DAY)
    // Two days are looked at first: their end is a time of an event, too.
    const days = [0, 1.5, 2, 2.5, 40, 86.9, 87.5, 88, 89]
    await metrics.count(
      ...days.map((day) => mail(sparse, 'message.sent', time(day))),
      mail(sparse, 'message.bounced', time(45)),
    )
    const timesOf = async (type: CountedEventType, more: Record<string, string>) => {
      const common = { event_types: '["message.sent","message.bounced"]', start: time(0).toISOString() }
      return (await events(sparse, { ...common, ...more }))[type]?.map(({ timestamp }) => timestamp)
    }
    const shown = days.map((day) => time(day).toISOString())
    for (const period of [{}, { period: '1' }] as const) {
      for (const limit of [1, 2, 3, 4, 9, 1_000]) {
        const some = { ...period, limit: String(limit) }
        expect(await timesOf('message.sent', some)).toEqual(shown.slice(0, limit))
        expect(await timesOf('message.sent', { ...some, descending: 'true' })).toEqual(
          shown.toReversed().slice(0, limit),
        )
        expect(await timesOf('message.bounced', some)).toEqual([time(45).toISOString()])
      }
    }
  })
})

describe('events without a period', () => {
  it('are one entry each, with the time of the event, also where two share a millisecond', async () => {
    const scope = inboxScope()
    await metrics.count(...sent(scope, 5, 5, 0), mail(scope, 'message.bounced', at(1)))
    const query = { event_types: '["message.sent","message.bounced"]' }
    const entry = (ms: number) => ({ timestamp: iso(ms), count: 1 })
    expect(await events(scope, query)).toEqual({
      'message.sent': [entry(0), entry(5), entry(5)],
      'message.bounced': [entry(1)],
    })
    expect(await events(scope, { ...query, descending: 'true', limit: '2' })).toEqual({
      'message.sent': [entry(5), entry(5)],
      'message.bounced': [entry(1)],
    })
  })

  it('are of the 24 hours before `end`, unless `start` says otherwise, and `end` is now at the latest', async () => {
    const scope = inboxScope()
    const now = Date.now()
    const [old, recent] = [now - 25 * HOUR, now - 23 * HOUR].map((ms) => mail(scope, 'message.sent', new Date(ms)))
    if (!old || !recent) throw new Error('there are two events')
    await metrics.count(old, recent)
    const times = async (query: Record<string, string>) =>
      (await events(scope, { event_types: 'message.sent', ...query }))['message.sent']?.map(
        ({ timestamp }) => timestamp,
      )
    const [first, second] = [old.event.time.toISOString(), recent.event.time.toISOString()]
    expect(await times({})).toEqual([second])
    expect(await times({ end: new Date(now + 90 * DAY).toISOString() })).toEqual([second])
    expect(await times({ end: new Date(now - 24 * HOUR).toISOString() })).toEqual([first])
    expect(await times({ start: new Date(now - 26 * HOUR).toISOString() })).toEqual([first, second])
  })

  it('are 1000 of each type unless `limit` says otherwise', async () => {
    const scope = inboxScope()
    await metrics.count(...sent(scope, ...Array.from({ length: 1_005 }, (_, index) => index)))
    const count = async (limit: Record<string, string>) =>
      (await events(scope, { event_types: 'message.sent', ...limit }))['message.sent']?.length
    expect(await count({})).toBe(1_000)
    expect(await count({ limit: '10000' })).toBe(1_005)
  })
})

describe('types of events', () => {
  it('are all ten, each a member, unless some are named', async () => {
    const found = await events(inboxScope(), {})
    expect(found).toEqual(Object.fromEntries(COUNTED_EVENT_TYPES.map((type) => [type, []])))
    expect(Object.keys(found)).toHaveLength(10)
  })

  it.each([
    { query: 'event_types=%5B%22message.sent%22%2C%22message.bounced%22%5D', name: 'a JSON array' },
    { query: 'event_types=message.sent,message.bounced', name: 'a comma list' },
    { query: 'event_types=message.sent&event_types=message.bounced', name: 'a repeated name' },
    { query: 'event_types%5B%5D=message.sent&event_types%5B%5D=message.bounced', name: 'a name with brackets' },
    { query: 'event_types%5B0%5D=message.sent&event_types%5B1%5D=message.bounced', name: 'a name with numbers' },
  ])('are named by $name', async ({ query }) => {
    expect(Object.keys(await events(inboxScope(), query))).toEqual(['message.sent', 'message.bounced'])
  })

  it('count each event of its own type once, although it comes twice', async () => {
    const scope = inboxScope()
    const types = COUNTED_EVENT_TYPES.filter((type): type is Exclude<CountedEventType, 'domain.verified'> => {
      return type !== 'domain.verified'
    })
    const happened = types.map((type) => mail(scope, type, at(0)))
    await metrics.count(...happened, ...happened.toReversed())
    const found = await events(scope, { period: '3600' })
    const counts = Object.fromEntries(Object.entries(found).map(([type, [entry]]) => [type, entry?.count]))
    expect(counts).toEqual({ ...Object.fromEntries(types.map((type) => [type, 1])), 'domain.verified': undefined })
  })

  it('are empty where the key lacks the permission of their label, whether they are named or not', async () => {
    const scope = inboxScope()
    const restricted = [
      'message.received.spam',
      'message.received.blocked',
      'message.received.unauthenticated',
    ] as const
    await metrics.count(...[...restricted, 'message.received' as const].map((type) => mail(scope, type, at(0))))
    const counts = async (permissions: string[], query: Record<string, string> = {}) => {
      const { map } = await metrics.ask('metrics.listEvents', viewer(scope, 'organization', permissions), query)
      return Object.fromEntries(Object.entries(map).map(([type, entries]) => [type, entries.length]))
    }
    const none = Object.fromEntries(restricted.map((type) => [type, 0]))
    expect(await counts(['metrics_read'])).toMatchObject({ ...none, 'message.received': 1 })
    expect(await counts(['metrics_read'], { event_types: restricted.join(',') })).toEqual(none)
    expect(await counts(['metrics_read', 'label_spam_read'])).toMatchObject({ ...none, 'message.received.spam': 1 })
    const all = ['metrics_read', 'label_spam_read', 'label_blocked_read', 'label_unauthenticated_read']
    expect(await counts(all, { event_types: restricted.join(',') })).toEqual({
      'message.received.spam': 1,
      'message.received.blocked': 1,
      'message.received.unauthenticated': 1,
    })
  })
})

describe('scopes', () => {
  it('count what is in them: of an inbox, of its pod and of the organization', async () => {
    const organizationId = randomUUID()
    const podId = randomUUID()
    const [inbox, neighbour, elsewhere] = [
      inboxScope({ organizationId, podId }),
      inboxScope({ organizationId, podId }),
      inboxScope({ organizationId }),
    ]
    await metrics.count(...sent(inbox, 0), ...sent(neighbour, 1, 2), ...sent(elsewhere, 3, 4, 5, 6))
    const count = async (scope: InboxScope, view: 'organization' | 'pod' | 'inbox') =>
      (await metrics.read('metrics.listEvents', scope, view, { event_types: 'message.sent' }))['message.sent']?.length
    expect(await count(inbox, 'inbox')).toBe(1)
    expect(await count(inbox, 'pod')).toBe(3)
    expect(await count(elsewhere, 'inbox')).toBe(4)
    // The default pod has the id of its organization.
    expect(await count(elsewhere, 'pod')).toBe(4)
    expect(await count(inbox, 'organization')).toBe(7)
    expect(await count(inboxScope(), 'organization')).toBe(0)
  })

  it('count a verified domain in its organization and in its pod, and in no inbox', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    const { organizationId, podId } = scope
    await metrics.count(
      domainVerified({ organizationId, podId, domainUid: randomUUID() }, at(0)),
      domainVerified({ organizationId, domainUid: randomUUID() }, at(1)),
    )
    const count = async (view: 'organization' | 'pod' | 'inbox') =>
      (await metrics.read('metrics.listEvents', scope, view))['domain.verified']?.length
    expect([await count('organization'), await count('pod'), await count('inbox')]).toEqual([2, 1, 0])
  })

  it('answer at the older path alike', async () => {
    const scope = inboxScope()
    await metrics.count(...sent(scope, 0, 1))
    for (const view of ['organization', 'pod', 'inbox'] as const) {
      const query = { start: new Date(BASE).toISOString(), end: iso(10_000), period: '60' }
      const older = await metrics.read('metrics.list', scope, view, query)
      expect(older).toEqual(await metrics.read('metrics.listEvents', scope, view, query))
      expect(older['message.sent']).toEqual([{ timestamp: iso(0), count: 2 }])
    }
  })
})
