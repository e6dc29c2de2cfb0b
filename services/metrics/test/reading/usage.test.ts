import { randomUUID } from 'node:crypto'
import { byLength, type InboxScope, inboxScope } from '@restante/testkit'
import { type MetricsFixture, startMetrics, type View } from '../support/fixture.ts'
import { created, domainCreated, domainDeleted, draft, storage } from '../support/happenings.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
/** The start of a period of an hour, six hours ago. */
const BASE = Math.floor(Date.now() / HOUR - 6) * HOUR
/** How often is counted while usage is asked for. */
const ROUNDS = byLength({ short: 25, long: 100 })

let metrics: MetricsFixture
beforeAll(async () => {
  metrics = await startMetrics()
})
afterAll(() => metrics.stop())

const at = (ms: number) => new Date(BASE + ms)
const iso = (ms: number) => at(ms).toISOString()

async function usage(scope: InboxScope, view: View, query: Record<string, string> = {}) {
  const found = await metrics.read('metrics.listUsage', scope, view, query)
  return Object.fromEntries(Object.entries(found).map(([type, entries]) => [type, entries.map(({ value }) => value)]))
}

describe('points of usage', () => {
  let scope: InboxScope
  beforeAll(async () => {
    scope = inboxScope()
    await metrics.count(
      storage(scope, 'message.stored', at(1), { size: 1_000 }),
      storage(scope, 'message.stored', at(HOUR), { size: 500, thread: false }),
      draft(scope, at(HOUR + 1), 70),
      storage(scope, 'message.deleted', at(3 * HOUR + 1), { size: 1_000, thread: false }),
      draft(scope, at(3 * HOUR + 2), -20),
    )
  })
  const range = { start: iso(0), end: iso(5 * HOUR) }

  it('are one for each period, with the running total at that moment, also where nothing happened', async () => {
    const all = await metrics.read('metrics.listUsage', scope, 'inbox', { ...range, usage_types: 'storage_bytes' })
    expect(all).toEqual({
      storage_bytes: [
        { timestamp: iso(0), value: 0 },
        // What happened at that very moment is part of it.
        { timestamp: iso(HOUR), value: 1_500 },
        { timestamp: iso(2 * HOUR), value: 1_570 },
        { timestamp: iso(3 * HOUR), value: 1_570 },
        { timestamp: iso(4 * HOUR), value: 550 },
      ],
    })
  })

  it('count messages and threads, and no drafts', async () => {
    expect(await usage(scope, 'inbox', range)).toEqual({
      storage_bytes: [0, 1_500, 1_570, 1_570, 550],
      message_count: [0, 2, 2, 2, 1],
      thread_count: [0, 1, 1, 1, 1],
    })
  })

  it('are those of one moment: what is counted together is seen together', async () => {
    const busy = inboxScope()
    let isOver = false
    const counting = (async () => {
      for (let ms = 0; ms < ROUNDS; ms++) await metrics.count(storage(busy, 'message.stored', at(ms), { size: 1 }))
      isOver = true
    })()
    while (!isOver) {
      const { message_count, thread_count } = await usage(busy, 'inbox', range)
      expect(thread_count).toEqual(message_count)
    }
    await counting
  })

  it('are an hour apart over 24 hours, unless the query says otherwise', async () => {
    const { message_count: usual } = await usage(scope, 'inbox')
    expect(usual).toHaveLength(24)
    expect(usual?.at(-1)).toBe(1)
    const { message_count: daily } = await usage(scope, 'inbox', { start: iso(-3 * DAY), period: '86400' })
    expect(daily).toEqual([0, 0, 0, 0])
  })

  it('begin at an odd millisecond when `start` does, and stop before `end`', async () => {
    const odd = { start: iso(2), end: iso(2 + 2_001), period: '1', usage_types: 'message_count' }
    const { message_count } = await metrics.read('metrics.listUsage', scope, 'inbox', odd)
    expect(message_count).toEqual([2, 1_002, 2_002].map((ms) => ({ timestamp: iso(ms), value: 1 })))
  })

  it('are the first in the chosen order where there are more than `limit`', async () => {
    expect(await usage(scope, 'inbox', { ...range, usage_types: 'message_count', limit: '2' })).toEqual({
      message_count: [0, 2],
    })
    const descending = { ...range, usage_types: 'message_count', limit: '2', descending: 'true' }
    expect(await usage(scope, 'inbox', descending)).toEqual({ message_count: [1, 2] })
  })

  it('are 0 before the scope existed, however far back `start` is', async () => {
    const { message_count } = await usage(scope, 'inbox', { start: iso(-900 * DAY), period: '86400' })
    expect(message_count).toHaveLength(901)
    expect(new Set(message_count)).toEqual(new Set([0]))
  })
})

describe('types of usage', () => {
  const OF_INBOX = ['storage_bytes', 'message_count', 'thread_count']
  const OF_POD = [...OF_INBOX, 'inbox_count', 'domain_count']

  it.each([
    { view: 'inbox', types: OF_INBOX },
    { view: 'pod', types: OF_POD },
    { view: 'organization', types: [...OF_POD, 'pod_count'] },
  ] as const)('are those of its tier, at $view scope', async ({ view, types }) => {
    expect(Object.keys(await usage(inboxScope(), view)).toSorted()).toEqual([...types].toSorted())
  })

  it('are ignored where they do not apply, and each named one that does is a member', async () => {
    const query = { usage_types: '["pod_count","inbox_count","message_count"]' }
    expect(Object.keys(await usage(inboxScope(), 'inbox', query))).toEqual(['message_count'])
    expect(Object.keys(await usage(inboxScope(), 'pod', query)).toSorted()).toEqual(['inbox_count', 'message_count'])
    expect(await usage(inboxScope(), 'inbox', { usage_types: 'pod_count' })).toEqual({})
  })
})

describe('what exists', () => {
  const count = async (scope: InboxScope, view: View) => {
    const query = { usage_types: 'inbox_count,domain_count,pod_count', period: '1', start: iso(5 * HOUR), limit: '1' }
    return usage(scope, view, { ...query, end: iso(5 * HOUR + 1) })
  }

  it('is counted once in pod and organization, from its creation on, whatever is repeated', async () => {
    const scope = inboxScope({ podId: randomUUID() })
    const { organizationId, podId } = scope
    const domain = { organizationId, podId, domainUid: randomUUID() }
    const shared = { organizationId, domainUid: randomUUID() }
    const happened = [
      created('pod', scope, at(-30 * DAY)),
      created('inbox', scope, at(HOUR)),
      domainCreated(domain, at(HOUR)),
      domainCreated(shared, at(HOUR)),
    ]
    await metrics.count(...happened)
    // The same entities changed later: other events, with the same time of creation.
    await metrics.count(created('inbox', scope, at(HOUR)), domainCreated(domain, at(HOUR)))
    expect(await count(scope, 'organization')).toEqual({ pod_count: [1], inbox_count: [1], domain_count: [2] })
    expect(await count(scope, 'pod')).toEqual({ inbox_count: [1], domain_count: [1] })
    const range = { start: iso(HOUR - 1), end: iso(HOUR + 1_999), period: '1', usage_types: 'inbox_count' }
    expect(await usage(scope, 'pod', range)).toEqual({ inbox_count: [0, 1] })
  })

  it('is gone once it is deleted, also where its deletion becomes known first', async () => {
    const { organizationId, ...scope } = inboxScope()
    const domains = [randomUUID(), randomUUID()].map((domainUid) => ({ organizationId, domainUid }))
    const [usual, swapped] = domains
    if (!usual || !swapped) throw new Error('there are two domains')
    await metrics.count(domainCreated(usual, at(0)))
    await metrics.count(domainDeleted(usual, at(HOUR)))
    await metrics.count(domainDeleted(swapped, at(HOUR)))
    await metrics.count(domainCreated(swapped, at(0)))
    const all = { organizationId, ...scope }
    const range = { start: iso(-1), end: iso(2 * HOUR), period: '3600', usage_types: 'domain_count' }
    expect(await usage(all, 'organization', range)).toEqual({ domain_count: [0, 2, 0] })
  })
})
