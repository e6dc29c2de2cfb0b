import { sql } from '@restante/service/database'
import { deliveredEvent, messageDeletedEvent, receivedEvent, waitFor } from '@restante/testkit'
import { startFanout, type Tenant, type TestFanout } from '../fanout.ts'
import { deliver, idsOf, type PollBody, poll } from './polling.ts'

let fanout: TestFanout
let tenant: Tenant
let prefix: string
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
  prefix = `/inboxes/${encodeURIComponent(tenant.inbox.address)}`
})
afterAll(() => fanout.stop())

const next = async (query: Record<string, string>): Promise<PollBody> =>
  (await poll(fanout, { secret: tenant.key, prefix }, { limit: '1', wait: '0', ...query })).body
const received = (count: number) => Array.from({ length: count }, () => receivedEvent(tenant.inbox))

/** Polls one event at a time until there is none. @param between is called after each event. */
async function oneByOne(begin: string, between: (count: number) => Promise<void> = async () => {}): Promise<unknown[]> {
  const got: unknown[] = []
  for (let cursor = begin; ; ) {
    const { events, has_more: hasMore, ...rest } = await next({ cursor, event_types: 'message.received' })
    got.push(...idsOf(events))
    if (events.length === 0 && hasMore !== true) return got
    expect(events.length).toBeLessThanOrEqual(1)
    cursor = rest.cursor
    await between(got.length)
  }
}

const IN_LOG = sql<{ count: number }, [ids: readonly string[]]>(
  'select count(*)::int as count from stream_log where event_id = any($1::uuid[])',
)

/** Deletes the messages of events, and waits until these have left the log. */
async function forget(gone: ReturnType<typeof received>): Promise<void> {
  await fanout.publish(...gone.map((event) => messageDeletedEvent(tenant.inbox, event)))
  const ids = gone.map(({ id }) => id)
  await waitFor(async () => (await fanout.db.query(IN_LOG, ids))[0]?.count === 0, {
    what: 'the events to leave the log',
  })
}

describe('polls of one event at a time', () => {
  it('give every event once, in order, beside other types and other inboxes', async () => {
    const beside = await fanout.gateway.addInbox(tenant)
    const { cursor } = await next({})
    const events = received(6)
    await deliver(
      fanout,
      tenant,
      ...events.flatMap((event) => [deliveredEvent(tenant.inbox), event, receivedEvent(beside)]),
    )
    expect(await oneByOne(cursor)).toEqual(events.map(({ id }) => id))
  })

  it('give those that are left, once and in order, while others are deleted', async () => {
    const { cursor } = await next({})
    const events = received(8)
    await deliver(fanout, tenant, ...events)
    const got = await oneByOne(cursor, async (count) => {
      // The one that was given last, the one that is next, and the last of all.
      if (count === 2) await forget([1, 2, 7].flatMap((index) => events[index] ?? []))
      if (count === 4) await forget([0, 5].flatMap((index) => events[index] ?? []))
    })
    expect(got).toEqual([0, 1, 3, 4, 6].map((index) => events[index]?.id))
  })
})

describe('the cursor of a full answer', () => {
  it('is directly after its last event: what another filter wants of what follows is not passed over', async () => {
    const { cursor } = await next({})
    const [event, delivered] = [receivedEvent(tenant.inbox), deliveredEvent(tenant.inbox)]
    await deliver(fanout, tenant, event, delivered)
    const first = await next({ cursor, event_types: 'message.received' })
    expect([idsOf(first.events), first['has_more']]).toEqual([[event.id], undefined])
    const second = await next({ cursor: first.cursor, event_types: 'message.delivered' })
    expect(idsOf(second.events)).toEqual([delivered.id])
  })

  it('comes with has_more only where something that is wanted may follow', async () => {
    const { cursor } = await next({})
    const events = received(2)
    await deliver(fanout, tenant, ...events)
    const first = await next({ cursor })
    expect(first['has_more']).toBe(true)
    expect(await next({ cursor: first.cursor })).not.toHaveProperty('has_more')
  })
})
