import { sql, type Transactional, type Tx } from '@restante/service/database'
import type { TimersOptions } from '../../src/index.ts'
import { ahead, at, effect, Stack, signal, type TestTimers, until } from '../stack.ts'

/** Nothing listens there. */
const NO_REDIS: Partial<TimersOptions> = { redis: { url: 'redis://127.0.0.1:9', prefix: 'none' } }
const WORK = { concurrency: 2, attemptMs: 20_000, retry: () => ahead(20), direct: 2 }

describe('attempts that begin with the commit of their timers', () => {
  const stack = new Stack()

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  const keysOf = (count: number): string[] => Array.from({ length: count }, (_, number) => `k${number}`)

  function schedule(tx: Tx, timers: TestTimers, keys: readonly string[]): Promise<void> {
    return timers.scheduleAll(
      tx,
      keys.map((key) => ({ kind: 'note' as const, key, payload: { text: key } })),
    )
  }

  /** Timers whose attempts end when `proceed` is called, once they have begun. */
  function held(options: Partial<TimersOptions> = {}, work: object = {}) {
    const [begun, proceeding] = [[] as { key: string; attempt: number; text: string }[], signal()]
    const timers = stack.timers(options)
    timers.work('note', { ...WORK, ...work }, async ({ timer: { key, attempt, payload }, run }) => {
      begun.push({ key, attempt, text: payload.text })
      await proceeding.happened
      await run((tx) => effect(tx, key))
    })
    return { timers, begun, proceed: proceeding.happen }
  }

  it('need no queue: they have the payload, and end their timers', async () => {
    const { timers, begun, proceed } = held(NO_REDIS)
    proceed()
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, ['k0', 'k1']))
    await until(async () => (await stack.rows()).length === 0)
    expect(begun).toEqual(['k0', 'k1'].map((key) => ({ key, attempt: 1, text: key })))
    expect(await stack.effects()).toHaveLength(2)
  })

  it('do not begin when the transaction is rolled back, or for a time that has not come', async () => {
    const { timers, begun, proceed } = held()
    proceed()
    await timers.start()
    const failed = stack.db.transaction(async (tx) => {
      await schedule(tx, timers, ['k0'])
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await at(stack.db, timers, 'later', ahead(60_000))
    await at(stack.db, timers, 'now')
    await until(async () => (await stack.effects()).length === 1)
    expect(begun.map(({ key }) => key)).toEqual(['now'])
    expect(await stack.rows()).toMatchObject([{ key: 'later', attempt: 0, lease: null }])
  })

  /** Timers that are leased: for an attempt, in the queue, or in line. */
  const leased = async () => (await stack.rows()).filter(({ lease }) => lease !== null)

  it('are no more at once than given, and the rest takes the queue', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    // More than may wait for a slot in the process.
    const keys = keysOf(100)
    await stack.db.transaction(async (tx) => {
      await schedule(tx, timers, keys)
      const rows = await tx.query(sql<{ lease: string | null }>('select lease_id as lease from timers'))
      expect(rows.filter(({ lease }) => lease !== null)).toHaveLength(52)
    })
    await until(() => begun.length === 4) // Two from the queue.
    expect(await timers.unbegun('note', 1_000)).toBe(96)
    proceed()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys.sort())
    expect(begun.every(({ attempt }) => attempt === 1)).toBe(true)
  })

  it('give back what several transactions have leased beyond the room', async () => {
    const { timers, begun, proceed } = held(NO_REDIS, { shares: 2 })
    await timers.start()
    await stack.db.transaction(async (tx) => {
      await schedule(tx, timers, ['a0', 'a1'])
      await stack.db.transaction((other) => schedule(other, timers, ['b0', 'b1']))
      expect(await stack.db.query(sql('select from timers where lease_id is not null'))).toHaveLength(2)
    })
    await until(async () => (await leased()).length === 2)
    expect(begun.map(({ key }) => key)).toEqual(['b0', 'b1'])
    expect((await stack.rows()).filter(({ lease }) => lease === null)).toMatchObject([{ attempt: 0 }, { attempt: 0 }])
    proceed()
    await until(async () => (await stack.effects()).length === 2)
  })

  it('are left to the queue when they have waited for a second', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, keysOf(5)))
    await until(() => begun.length === 2)
    await until(() => begun.length === 4) // Its own two slots of the queue.
    const other = held()
    other.proceed()
    await other.timers.start()
    await until(() => other.begun.length === 1)
    expect(other.begun).toMatchObject([{ attempt: 1 }])
    proceed()
    await until(async () => (await stack.effects()).length === 5)
  })

  it('take the queue before all that waits there when they have waited for a second', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    const patient = keysOf(100).map((key) => ({ kind: 'note' as const, key, payload: { text: key }, hasTime: true }))
    await stack.db.transaction((tx) => schedule(tx, timers, ['first']))
    await stack.db.transaction((tx) => timers.scheduleAll(tx, patient))
    await until(() => begun.length === 4) // Two from the queue.
    await stack.db.transaction((tx) => schedule(tx, timers, ['urgent']))
    const [urgent] = await stack.db.query(sql<{ id: string }>(`select id from timers where key = 'urgent'`))
    await until(async () => (await stack.firstWaiting('note'))?.startsWith(`${urgent?.id}-0-`))
    proceed()
    await until(async () => (await stack.rows()).length === 0)
    expect(begun.slice(4, 6).map(({ key }) => key)).toContain('urgent')
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual([...keysOf(100), 'first', 'urgent'].sort())
  })

  it('look at their timers: what was replaced or cancelled in its transaction does not begin', async () => {
    const { timers, begun, proceed } = held()
    proceed()
    await timers.start()
    await stack.db.transaction(async (tx) => {
      await schedule(tx, timers, ['gone'])
      await timers.cancel(tx, 'note', 'gone')
      await timers.schedule(tx, { kind: 'note', key: 'twice', payload: { text: 'first' } })
      await timers.schedule(tx, { kind: 'note', key: 'twice', payload: { text: 'second' } })
    })
    await until(async () => (await stack.effects()).length === 1)
    await until(async () => (await stack.rows()).length === 0)
    expect(begun).toEqual([{ key: 'twice', attempt: 1, text: 'second' }])
  })

  it('begin before those that have time, however many of these wait', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    const patient = keysOf(100).map((key) => ({ kind: 'note' as const, key, payload: { text: key }, hasTime: true }))
    await stack.db.transaction((tx) => schedule(tx, timers, ['first']))
    await stack.db.transaction((tx) => timers.scheduleAll(tx, patient.slice(0, 51)))
    await until(() => begun.length === 2)
    await stack.db.transaction((tx) => schedule(tx, timers, ['urgent', 'too']))
    expect(await leased()).toHaveLength(54)
    // These find no room, and take the queue.
    await stack.db.transaction((tx) => timers.scheduleAll(tx, patient.slice(51)))
    await until(() => begun.length === 4)
    proceed()
    await until(async () => (await stack.rows()).length === 0)
    const direct = begun.map(({ key }) => key).filter((key) => patient.slice(51).every((one) => one.key !== key))
    expect(direct.slice(0, 2).sort()).toEqual(['first', 'k0'])
    expect(direct.slice(2, 4).sort()).toEqual(['too', 'urgent'])
  })

  it('find a slot that is not for those that have time, while these wait', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    const patient = keysOf(10).map((key) => ({ kind: 'note' as const, key, payload: { text: key }, hasTime: true }))
    await stack.db.transaction((tx) => timers.scheduleAll(tx, patient))
    await until(() => begun.length === 3) // One, and two from the queue.
    await stack.db.transaction((tx) => schedule(tx, timers, ['urgent']))
    await until(() => begun.length === 4)
    expect(begun.at(-1)?.key).toBe('urgent')
    proceed()
    await until(async () => (await stack.effects()).length === 11)
  })

  it('are none without slots for them', async () => {
    const { timers, proceed } = held(NO_REDIS, { direct: 0 })
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, keysOf(5)))
    expect(await leased()).toEqual([])
    proceed()
  })

  it('do not wait in a line of their own where shares take turns', async () => {
    const { timers, begun, proceed } = held(NO_REDIS, { shares: 2 })
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, keysOf(5)))
    await until(() => begun.length === 2)
    expect(await leased()).toHaveLength(2)
    proceed()
    await until(async () => (await stack.effects()).length === 2)
  })

  it('are given back at a shutdown when they have not begun', async () => {
    // Without a queue, to which they are left when they have waited for a second.
    const { timers, begun, proceed } = held(NO_REDIS)
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, keysOf(5)))
    await until(() => begun.length === 2)
    const stopped = timers.stop()
    await until(async () => (await stack.rows()).filter(({ attempt, lease }) => attempt === 0 && !lease).length === 3)
    // What is committed now is left to others, too.
    await at(stack.db, timers, 'late')
    proceed()
    await stopped
    expect(begun).toHaveLength(2)
    const next = held()
    next.proceed()
    await next.timers.start()
    await until(async () => (await stack.effects()).length === 6)
    expect(next.begun.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
  })

  it('are given back when their transaction commits during a shutdown', async () => {
    const { timers, begun, proceed } = held()
    proceed()
    await timers.start()
    await stack.db.transaction(async (tx) => {
      await schedule(tx, timers, ['k0'])
      await timers.stop()
    })
    await until(async () => (await stack.rows()).every(({ attempt, lease }) => attempt === 0 && lease === null))
    expect(begun).toEqual([])
  })

  it('are taken over when their process dies before they begin', async () => {
    // It commits, and never hears of it.
    const deaf: Transactional = {
      query: (...statement) => stack.db.query(...statement),
      transaction: (work) => stack.db.transaction((tx) => work({ query: tx.query, afterCommit: () => {} })),
    }
    const { timers, begun, proceed } = held()
    proceed()
    await timers.start()
    await deaf.transaction((tx) => schedule(tx, timers, ['k0']))
    await timers.stop()
    await stack.db.query(sql('update timers set leased_until = now()'))
    const other = held()
    other.proceed()
    await other.timers.start()
    await until(async () => (await stack.effects()).length === 1)
    expect(begun).toEqual([])
    expect(other.begun).toEqual([{ key: 'k0', attempt: 1, text: 'k0' }])
  })

  it('are made by one process when their lease has run out before they begin', async () => {
    const { timers, begun, proceed } = held({ ...NO_REDIS, pollMs: 600_000 }, { direct: 1 })
    await timers.start()
    await stack.db.transaction((tx) => schedule(tx, timers, ['k0', 'k1']))
    await until(() => begun.length === 1)
    await stack.db.query(sql(`update timers set leased_until = now() where key = 'k1'`))
    const other = held()
    other.proceed()
    await other.timers.start()
    await until(() => other.begun.length === 1)
    proceed()
    await until(async () => (await stack.rows()).length === 0)
    expect(begun.map(({ key }) => key)).toEqual(['k0'])
    expect(other.begun).toEqual([{ key: 'k1', attempt: 1, text: 'k1' }])
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(['k0', 'k1'])
  })

  it('replace a live timer of the same key, whose attempt loses its lease', async () => {
    const { timers, begun, proceed } = held()
    await timers.start()
    await at(stack.db, timers, 'k', undefined, 'first')
    await until(() => begun.length === 1)
    await at(stack.db, timers, 'k', undefined, 'second')
    await until(() => begun.length === 2)
    proceed()
    await until(async () => (await stack.rows()).length === 0)
    expect(begun.map(({ text, attempt }) => ({ text, attempt }))).toEqual([
      { text: 'first', attempt: 1 },
      { text: 'second', attempt: 1 },
    ])
    expect(await stack.effects()).toHaveLength(1)
  })

  it('have their lease from the statement on, however long the transaction took before', async () => {
    const { timers, proceed } = held()
    await timers.start()
    const left = await stack.db.transaction(async (tx) => {
      await tx.query(sql('select pg_sleep(1.5)'))
      await schedule(tx, timers, ['k0'])
      const seconds = sql<{ left: number }>(
        'select extract(epoch from leased_until - now())::float8 as left from timers',
      )
      return tx.query(seconds)
    })
    // Since the transaction began: its 1.5 s, and the 10 s of the lease.
    expect(left[0]?.left).toBeGreaterThan(11)
    proceed()
    await until(async () => (await stack.effects()).length === 1)
  })
})
