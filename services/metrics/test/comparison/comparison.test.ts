import { randomUUID } from 'node:crypto'
import { type DomainEvent, type TopicDefinition, topics } from '@restante/contracts/events'
import { ServiceClient } from '@restante/service/http'
import type { Component } from '@restante/service/process'
import { createLogger } from '@restante/service/telemetry'
import { countRows, type InboxScope, inboxDeletedEvent, inboxScope, queryRows, waitFor } from '@restante/testkit'
import { Comparer, isDue } from '../../src/comparison/comparer.ts'
import { drift } from '../../src/comparison/telemetry.ts'
import { domainsConsumer, factsConsumer } from '../../src/counting/consumers.ts'
import { totalsBefore } from '../../src/series/read.ts'
import type { Scope } from '../../src/series/series.ts'
import { openTenancy } from '../../src/tenancy/open-tenancy.ts'
import { FakeOwners } from '../owners/fake-owners.ts'
import { MetricsStack } from '../owners/stack.ts'

const DAY = 86_400_000
const STORED = ['storage_bytes', 'message_count', 'thread_count'] as const
const log = createLogger({ service: 'test', level: 'silent' })

let stack: MetricsStack
let owners: FakeOwners
let comparer: Comparer
let components: Component[]

beforeAll(async () => {
  stack = await MetricsStack.create()
  owners = await new FakeOwners().start()
  const { db, topics: of } = stack
  const { kafka } = of
  const tenancy = openTenancy({ kafka, db, log })
  const [facts, domains] = [factsConsumer({ kafka, db }), domainsConsumer({ kafka, db })]
  const clientOf = (to: 'gateway' | 'mail-ingest' | 'mail-send' | 'domains-dns') =>
    new ServiceClient({ from: 'metrics', to, url: owners.url, key: 'key of a pair in the tests, 32 b' })
  const peers = {
    gateway: clientOf('gateway'),
    mailIngest: clientOf('mail-ingest'),
    mailSend: clientOf('mail-send'),
    domainsDns: clientOf('domains-dns'),
  }
  comparer = new Comparer({ kafka, db, log, peers, consumers: [tenancy.consumer, facts, domains], spacedMs: 100 })
  components = [tenancy, facts, domains, ...Object.values(peers)]
  for (const component of components) await component.start?.()
})
afterAll(async () => {
  for (const component of components) await component.stop?.()
  await owners.stop()
  await stack.stop()
})

/** Runs a comparison to its end: one that fails is repeated, as it is every few seconds. */
async function compare(): Promise<void> {
  await comparer.begin('ada')
  const hasEnded = async () => {
    await comparer.work(new AbortController().signal)
    return (await countRows(stack.db, 'comparisons where ended_at is null')) === 0
  }
  await waitFor(hasEnded, { what: 'the comparison to end', interval: 200 })
}

/** A message that was stored two minutes ago unless another time is given. */
function stored({ organizationId, podId, inboxUid }: InboxScope, size: number, at = new Date(Date.now() - 120_000)) {
  const topic = topics['mail.messages']
  const named = { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid }
  const message_id = `<${randomUUID()}@restante.test>`
  const rest = { direction: 'received' as const, thread_created: true, stored_at: at.toISOString() }
  const payload = { ...named, thread_id: randomUUID(), message_id, size, ...rest }
  return {
    topic,
    event: topic.event('message.stored', payload, { time: at, about: { ...named, message_id, labels: [] } }),
  }
}

/** What the owners of an inbox say is in it. */
function owned({ organizationId, podId, inboxUid }: InboxScope, messages: number, bytes: number, drafts = 0): void {
  const named = { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid }
  owners.mail.set(inboxUid, { ...named, messages, threads: messages, bytes, drafts })
}

async function count(...happened: { readonly topic: TopicDefinition; readonly event: DomainEvent }[]): Promise<void> {
  await stack.publish(happened)
  const ids = happened.map(({ event }) => event.id)
  const isCounted = async () => (await countRows(stack.db, 'consumed where event_id = any($1)', ids)) === ids.length
  await waitFor(isCounted, { what: 'the events to be counted' })
}

async function totals(scope: Scope): Promise<number[]> {
  const found = await totalsBefore(stack.db, scope, STORED, Date.now() + DAY)
  return STORED.map((series) => found.get(series) ?? 0)
}
const totalsOf = async ({ inboxUid, podId, organizationId }: InboxScope) => [
  await totals({ tier: 'inbox', id: inboxUid }),
  await totals({ tier: 'pod', id: podId }),
  await totals({ tier: 'organization', id: organizationId }),
]

/** How many totals of a series were corrected so far. */
async function corrected(series: string): Promise<number> {
  const { values } = await drift.get()
  return values.find(({ labels }) => labels.series === series)?.value ?? 0
}

describe('a comparison', () => {
  it('begins by itself at the first start', async () => {
    const begun = () => queryRows<{ operator: string | null }>(stack.db, 'select operator from comparisons order by id')
    expect(await begun()).toEqual([])
    await waitFor(
      async () => {
        await comparer.work(new AbortController().signal)
        return (await countRows(stack.db, 'comparisons where ended_at is not null')) === 1
      },
      { what: 'the first comparison to end', interval: 200 },
    )
    expect((await begun())[0]).toEqual({ operator: null })
  })

  it.each([
    ['at the first start', undefined, '2026-11-20T12:00:00Z', true],
    ['before the night', '2026-11-19T03:10:00Z', '2026-11-20T01:59:59Z', false],
    ['before the time of this process in the night', '2026-11-19T03:10:00Z', '2026-11-20T02:59:59Z', false],
    ['at its time', '2026-11-19T03:10:00Z', '2026-11-20T03:00:00Z', true],
    ['after a night in which no process ran', '2026-11-17T03:10:00Z', '2026-11-20T15:00:00Z', true],
    ['after one of this night', '2026-11-20T02:10:00Z', '2026-11-20T03:00:00Z', false],
    ['after one that an operator asked for before the night', '2026-11-20T01:00:00Z', '2026-11-20T03:00:00Z', true],
  ])('is due %s: %s, %s: %s', (_when, last, now, due) => {
    const started = last === undefined ? undefined : { started_at: new Date(last) }
    expect(isDue(started, Date.parse(now), 3_600_000)).toBe(due)
  })

  it('fills the totals of what happened before the topics begin, and corrects nothing then', async () => {
    const inboxes = Array.from({ length: 8 }, () => inboxScope({ podId: randomUUID() }))
    for (const [index, inbox] of inboxes.entries())
      owned(inbox, index + 1, 1_000 * (index + 1), index % 2 === 0 ? 77 : 0)
    const known = await corrected('message_count')
    await compare()
    for (const [index, inbox] of inboxes.entries()) {
      const expected = [1_000 * (index + 1) + (index % 2 === 0 ? 77 : 0), index + 1, index + 1]
      expect(await totalsOf(inbox)).toEqual([expected, expected, expected])
    }
    const before = await corrected('message_count')
    expect(before - known).toBe(24)
    await compare()
    expect(await corrected('message_count')).toBe(before)
  })

  it('heals drift of an inbox, of a pod and of an inbox that its owners do not list', async () => {
    const [lost, wide, gone] = [inboxScope(), inboxScope({ podId: randomUUID() }), inboxScope()]
    await count(stored(lost, 500), stored(lost, 700), stored(wide, 900), stored(gone, 100))
    owned(lost, 2, 1_200)
    owned(wide, 1, 900)
    const { db } = stack
    const inSeries = 'series = 21 and scope_id = $1 and tier = $2'
    await queryRows(
      db,
      `update arrivals set sums = array[1::bigint], times = array[5] where ${inSeries}`,
      lost.inboxUid,
      3,
    )
    await queryRows(
      db,
      `update arrivals set sums = array[4::bigint], times = array[5] where ${inSeries}`,
      wide.podId,
      2,
    )
    await compare()
    expect(await totalsOf(lost)).toEqual([
      [1_200, 2, 2],
      [1_200, 2, 2],
      [1_200, 2, 2],
    ])
    expect(await totalsOf(wide)).toEqual([
      [900, 1, 1],
      [900, 1, 1],
      [900, 1, 1],
    ])
    expect(await totalsOf(gone)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  it('corrects nothing while events are on their way, and nothing when they have arrived', async () => {
    const [late, busy] = [inboxScope(), inboxScope()]
    const [first, onItsWay] = [stored(late, 300), stored(late, 400)]
    await count(first, stored(busy, 10))
    owned(late, 2, 700)
    owned(busy, 1, 10)
    const before = await corrected('storage_bytes')
    let rounds = 0
    owners.onAsked = async (operation) => {
      if (operation !== 'mail-ingest.countMailboxes') return
      rounds++
      // Each time that it is counted a transaction of the inbox is not committed yet: its event is older than the count.
      const [pending] = [stored(busy, 10, new Date())]
      await count(pending)
      const is = owners.mail.get(busy.inboxUid)
      owned(busy, is?.messages ?? 0, is?.bytes ?? 0)
      if (rounds === 2) await stack.publish([onItsWay])
    }
    try {
      await compare()
    } finally {
      owners.onAsked = () => {}
    }
    expect(rounds).toBeGreaterThan(2)
    expect(await corrected('storage_bytes')).toBe(before)
    expect(await totals({ tier: 'inbox', id: late.inboxUid })).toEqual([700, 2, 2])
    // Nothing is left for the comparisons of the other tests to correct.
    owned(busy, 1 + rounds, 10 * (1 + rounds))
  })

  it('waits while events of an owner are not in Kafka, and corrects nothing until then', async () => {
    const inbox = inboxScope()
    const onItsWay = stored(inbox, 600)
    owned(inbox, 1, 600)
    owners.unpublishedSince = new Date(Date.now() - 60_000)
    const before = await corrected('message_count')
    await comparer.begin('ada')
    await expect(comparer.work(new AbortController().signal)).rejects.toThrow(/not in Kafka/)
    owners.unpublishedSince = undefined
    await count(onItsWay)
    await compare()
    expect(await corrected('message_count')).toBe(before)
    expect(await totals({ tier: 'inbox', id: inbox.inboxUid })).toEqual([600, 1, 1])
  })

  it('counts entities that it has missed from their creation on, and those that are gone until now', async () => {
    const organizationId = randomUUID()
    const [kept, missed] = [inboxScope({ organizationId }), inboxScope({ organizationId })]
    const created_at = new Date(Date.now() - 3 * DAY).toISOString()
    const inboxOf = ({ podId: pod_id, inboxUid: inbox_uid, address }: InboxScope) => ({
      type: 'inbox.changed' as const,
      payload: {
        ...{ organization_id: organizationId, pod_id, inbox_uid, version: 1, address, status: 'active' as const },
        ...{ created_at, updated_at: created_at },
      },
    })
    owners.tenancy = [inboxOf(kept), inboxOf(missed)]
    await compare()
    const scope: Scope = { tier: 'organization', id: organizationId }
    const inboxesAt = async (time: number) =>
      (await totalsBefore(stack.db, scope, ['inbox_count'], time)).get('inbox_count')
    expect([await inboxesAt(Date.now() - 4 * DAY), await inboxesAt(Date.now() - 2 * DAY)]).toEqual([undefined, 2])
    owners.tenancy = [inboxOf(kept)]
    await compare()
    expect([await inboxesAt(Date.now() - 2 * DAY), await inboxesAt(Date.now() + DAY)]).toEqual([2, 1])
    // Its deletion, which was only late, is not counted once more.
    await count({ topic: topics.tenancy, event: inboxDeletedEvent(missed) })
    const isPurged = () => countRows(stack.db, 'entities where id = $1 and purged', missed.inboxUid)
    await waitFor(async () => (await isPurged()) === 1, { what: 'the inbox to be purged' })
    expect(await inboxesAt(Date.now() + DAY)).toBe(1)
  })
})
