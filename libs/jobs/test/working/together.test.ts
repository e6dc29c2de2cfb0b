import { randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { SharedEffect } from '../../src/index.ts'
import { Deferrals } from '../../src/working/deferrals.ts'
import { ahead, at, effect, never, Stack, signal, type TestTimers, until } from '../stack.ts'

const ATTEMPTS = 30

describe('attempts that end together', () => {
  const stack = new Stack()

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  /** Schedules timers that are due at once. */
  async function schedule(timers: TestTimers): Promise<string[]> {
    const keys = Array.from({ length: ATTEMPTS }, (_, number) => `k${String(number).padStart(2, '0')}`)
    await stack.db.transaction((tx) =>
      timers.scheduleAll(
        tx,
        keys.map((key) => ({ kind: 'note' as const, key, payload: { text: key } })),
      ),
    )
    return keys
  }

  const work = { concurrency: ATTEMPTS, attemptMs: 60_000, retry: () => ahead(20) }

  it('share the transactions of an effect, which happens once for each', async () => {
    const timers = stack.timers()
    const batches: number[] = []
    const allBegun = signal()
    let begun = 0
    const shared = new SharedEffect<string>(stack.db, async (tx, keys) => {
      batches.push(keys.length)
      for (const key of keys) await effect(tx, key)
    })
    timers.work('note', work, async ({ timer, share }) => {
      if (++begun === ATTEMPTS) allBegun.happen()
      await allBegun.happened
      await share(shared, timer.key)
    })
    const keys = await schedule(timers)
    await timers.start()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys)
    expect(batches.length).toBeLessThan(ATTEMPTS)
  })

  it('fail alone: the others have their effect, and the failed one is retried', async () => {
    const timers = stack.timers()
    let failures = 0
    const shared = new SharedEffect<{ key: string; attempt: number }>(stack.db, async (tx, items) => {
      for (const { key, attempt } of items) {
        await effect(tx, key, String(attempt))
        if (key === 'k07' && attempt === 1) {
          failures++
          throw new Error('poison')
        }
      }
    })
    timers.work('note', work, ({ timer: { key, attempt }, share }) => share(shared, { key, attempt }))
    const keys = await schedule(timers)
    await timers.start()
    await until(async () => (await stack.rows()).length === 0)
    const effects = await stack.effects()
    expect(effects.map(({ key }) => key).sort()).toEqual(keys)
    expect(effects.filter(({ text }) => text !== '1')).toEqual([{ key: 'k07', text: '2' }])
    expect(failures).toBeGreaterThan(0)
  })

  it('have no effect without a lease, and do not keep the others from theirs', async () => {
    const timers = stack.timers()
    const begun = Promise.withResolvers<void>()
    const proceed = Promise.withResolvers<void>()
    let count = 0
    const shared = new SharedEffect<string>(stack.db, async (tx, keys) => {
      for (const key of keys) await effect(tx, key)
    })
    timers.work('note', { ...work, retry: never }, async ({ timer, share }) => {
      if (++count === ATTEMPTS) begun.resolve()
      await proceed.promise
      await share(shared, timer.key)
    })
    const keys = await schedule(timers)
    await timers.start()
    await begun.promise
    await stack.db.transaction((tx) => timers.cancel(tx, 'note', 'k03'))
    proceed.resolve()
    await until(async () => (await stack.rows()).length === 0)
    await until(async () => (await stack.effects()).length === ATTEMPTS - 1)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys.filter((key) => key !== 'k03'))
  })

  /** A timer whose attempt has a lease, and the lease of an earlier attempt. */
  async function leased(timers: TestTimers): Promise<{ id: string; overtaken: string; current: string }> {
    await at(stack.db, timers, 'k')
    const [overtaken, current] = [randomUUID(), randomUUID()]
    const lease = sql<{ id: string }, [lease: string]>('update timers set lease_id = $1 returning id')
    const [timer] = await stack.db.query(lease, current)
    return { id: timer?.id ?? '', overtaken, current }
  }

  it('are deferred to the time of the attempt that has the lease, and not of one that was overtaken', async () => {
    const { id, overtaken, current } = await leased(stack.timers())
    const deferrals = new Deferrals(stack.db)
    const times = [ahead(90_000), ahead(60_000)] as const
    const deferred = [
      deferrals.defer({ id, lease: overtaken }, times[0]),
      deferrals.defer({ id, lease: current }, times[1]),
    ]
    expect(await Promise.all(deferred)).toEqual([false, true])
    const [row] = await stack.db.query(sql<{ at: Date }>('select due_at as at from timers'))
    expect(row?.at).toEqual(times[1])
  })

  it('have no effect where another attempt at the same timer, which ends at the same time, has the lease', async () => {
    const timers = stack.timers()
    const shared = new SharedEffect<string>(stack.db, async (tx, items) => {
      for (const item of items) await effect(tx, item)
    })
    const { id, overtaken, current } = await leased(timers)
    const end = (lease: string) => shared.commit({ id, lease }, lease)
    expect(await Promise.all([end(overtaken), end(current)])).toEqual([false, true])
    expect((await stack.effects()).map(({ key }) => key)).toEqual([current])
    expect(await stack.rows()).toEqual([])
  })

  it('have their effect although another transaction had a timer locked', async () => {
    const timers = stack.timers()
    const [begun, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const shared = new SharedEffect<string>(stack.db, async (tx, keys) => {
      for (const key of keys) await effect(tx, key)
    })
    timers.work('note', work, async ({ timer, share }) => {
      begun.resolve()
      await proceed.promise
      await share(shared, timer.key)
    })
    await at(stack.db, timers, 'locked')
    await timers.start()
    await begun.promise
    const rolledBack = stack.db.transaction(async (tx) => {
      await timers.cancel(tx, 'note', 'locked')
      proceed.resolve()
      await new Promise((resolve) => setTimeout(resolve, 100))
      throw new Error('changed its mind')
    })
    await expect(rolledBack).rejects.toThrow('changed its mind')
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'locked', text: '' }])
  })

  it('may be deferred instead, each to its own time, and keep counting', async () => {
    const timers = stack.timers()
    const dueAt = new Map<string, string>()
    timers.work('note', work, async ({ timer, run, defer }) => {
      if (timer.attempt === 1) {
        const next = ahead(50 + 10 * (dueAt.size % 5))
        dueAt.set(timer.key, next.toISOString())
        await defer(next)
        return
      }
      await run((tx) => effect(tx, timer.key, `${timer.attempt} ${timer.dueAt.toISOString()}`))
    })
    const keys = await schedule(timers)
    await timers.start()
    await until(async () => (await stack.effects()).length === ATTEMPTS)
    const effects = (await stack.effects()).sort((a, b) => (a.key < b.key ? -1 : 1))
    expect(effects).toEqual(keys.map((key) => ({ key, text: `2 ${dueAt.get(key)}` })))
    expect(await stack.rows()).toEqual([])
  })
})
