import type { CheckRequest } from '@restante/contracts/internal'
import { sql } from '@restante/service/database'
import { missedEventsCheck, offsetsCheck, outboxCheck, projectionCheck, recordedSince } from '../src/index.ts'
import { recordOf } from '../src/testing.ts'
import { letters, MessagingFixture, posted, until } from './fixture.ts'

const PARK = sql<never, [rows: number]>(`
insert into outbox (id, topic, key, type, subject, time, headers, payload, refused)
select gen_random_uuid(), 'letters', 'a', 'letter.posted', 'a/1', now(), '{}', '{}', 'too large'
  from generate_series(1, $1)`)
const FORGET = sql<never>('delete from consumed')

const asked: CheckRequest = { check: 'any', repair: false, restored: [], delete_orphans: false, operator: 'test' }

describe('checks of what a service shares with Kafka', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
  })
  afterEach(() => fixture.close())

  /** Events of one key, which are in one partition. */
  async function publish(count: number): Promise<void> {
    const records = Array.from({ length: count }, (_, number) => recordOf(posted('a', number)))
    await fixture.produce(
      letters.name,
      records.map(({ key, value, headers }) => ({
        key: key.toString(),
        value: value.toString(),
        headers: { ...headers },
      })),
    )
  }

  it('read of a topic what it had when the reading began, although events keep arriving', async () => {
    const since = new Date(Date.now() - 1_000)
    await publish(600)
    const first = await recordedSince(fixture.kafka, [letters], { since, after: undefined })
    expect(first.records).toHaveLength(500)
    await publish(600)
    const second = await recordedSince(fixture.kafka, [letters], { since, after: first.next })
    expect(second.records).toHaveLength(100)
    expect(second.next).toBeUndefined()
    await expect(recordedSince(fixture.kafka, [letters], { since, after: 'letters/0/1' })).rejects.toThrow('position')
  })

  it('reach every rejected event of an outbox, a page at a time, and have each published again', async () => {
    await fixture.db.query(PARK, 150)
    const check = outboxCheck(fixture.db)
    const first = await check({ ...asked, repair: true })
    expect(first.findings).toHaveLength(100)
    const second = await check({ ...asked, repair: true, ...(first.next && { after: first.next }) })
    expect(second.findings).toHaveLength(50)
    expect(second.next).toBeUndefined()
    expect((await check(asked)).findings).toEqual([])
  })

  it('read a projection in pages, also where its owner has few entities left', async () => {
    const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    const kept = [500, 1_700, 2_600].map((number) => ({ id: idOf(number), version: 2 }))
    const rows = new Map(
      Array.from({ length: 2_500 }, (_, number) => [idOf(number), { id: idOf(number), version: 2, deleted: false }]),
    )
    const sizes: number[] = []
    const check = projectionCheck<{ id: string; version: number }>({
      db: fixture.db,
      snapshot: async (after = '') => ({ entities: kept.filter(({ id }) => id > after) }),
      idOf: ({ id }) => id,
      rows: async (_on, after, through, most) => {
        const found = [...rows.values()].filter(({ id }) => id > after && id <= through).slice(0, most)
        sizes.push(found.length)
        return found
      },
      drop: async (_tx, id) => void rows.delete(id),
      apply: async (_tx, { id, version }) => void rows.set(id, { id, version, deleted: false }),
    })
    let found = 0
    for (let after: string | undefined, last = false; !last; ) {
      const page = await check({ ...asked, repair: true, ...(after !== undefined && { after }) })
      found += page.findings.length
      after = page.next
      last = after === undefined
    }
    expect(Math.max(...sizes)).toBe(1_000)
    expect(found).toBe(2_499)
    expect([...rows.keys()].toSorted()).toEqual(kept.map(({ id }) => id))
  })

  it('report no offset of a group that goes on while they look', async () => {
    const consumer = await fixture.consumer({ handlers: { 'letter.posted': { effect: async () => undefined } } })
    let isOver = false
    const publishing = (async () => {
      while (!isOver) await publish(1)
    })()
    const end = async () => Math.max(0, ...(await fixture.committed(consumer.group, letters.name)).values())
    const found: unknown[] = []
    for (const began = await end(); (await end()) < began + 20; )
      found.push(...(await offsetsCheck(fixture.kafka, [letters], true)))
    isOver = true
    await publishing
    expect(found).toEqual([])
  })

  it('call an event repaired when it had its effect, and open when it failed once more', async () => {
    let handled = 0
    const consumer = await fixture.consumer({
      handlers: {
        'letter.posted': {
          effect: async (_tx, { payload }) => {
            handled++
            if (payload.number === 1) throw new Error('it cannot be read')
          },
        },
      },
      attempts: 1,
    })
    await publish(2)
    await until(async () => {
      const committed = await fixture.committed(consumer.group, letters.name)
      return [...committed.values()].includes(2)
    })
    await fixture.db.query(FORGET)
    const check = missedEventsCheck({ kafka: fixture.kafka, db: fixture.db, consumers: [consumer] })
    const since = new Date(Date.now() - 60_000).toISOString()
    expect((await check({ ...asked, since })).findings).toMatchObject([
      { problem: '2 events had no effect here', state: 'open' },
    ])
    const { findings } = await check({ ...asked, since, repair: true })
    expect(findings.map(({ problem, state }) => [problem.slice(0, 1), state])).toEqual([
      ['1', 'repaired'],
      ['1', 'open'],
    ])
    expect(handled).toBeGreaterThanOrEqual(4)
  })
})
