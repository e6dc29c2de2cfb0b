import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { createLogger, type Logger } from '@restante/service/telemetry'
import { Wire } from '@restante/service/testing'
import { ago, at, effect, never, openDatabase, REDIS_URL, Stack, signal, until } from '../stack.ts'
import { OwnRedis } from './own-redis.ts'

const CLOCK = sql<{ ms: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as ms')
const EXPIRED = sql<{ count: number }>('select count(*)::int as count from timers where leased_until < now()')
const FIXTURE = path.join(import.meta.dirname, '../fixtures', 'hanging-worker.ts')

const STOPPED = path.join(import.meta.dirname, '../fixtures', 'stopped-worker.ts')

/** A logger, and the warnings that are written to it. */
function warnings(): { log: Logger; lines: string[] } {
  const lines: string[] = []
  const log = createLogger({ service: 'jobs-test', level: 'silent' }).child({}, { level: 'warn' })
  log.warn = (...args: unknown[]) => void lines.push(String(args.at(-1)))
  return { log, lines }
}

describe('timers', () => {
  const stack = new Stack()
  const work = { concurrency: 5, attemptMs: 60_000, retry: never }

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  it('have one effect each with two processes polling and working', async () => {
    const others = openDatabase(stack.url)
    const processes = [stack.timers(), stack.timers({}, others)]
    const [began, bothBegan] = [[0, 0], signal()]
    for (const [index, timers] of processes.entries()) {
      timers.work('note', work, async ({ timer, run }) => {
        began[index] = (began[index] ?? 0) + 1
        if (Math.min(...began) > 0) bothBegan.happen()
        await bothBegan.happened
        await run((tx) => effect(tx, timer.key))
      })
      await timers.start()
    }
    const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`)
    const [first] = processes
    await stack.db.transaction(async (tx) =>
      first?.scheduleAll(
        tx,
        keys.map((key) => ({ kind: 'note' as const, key, payload: { text: key } })),
      ),
    )
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys.sort())
    expect((began[0] ?? 0) + (began[1] ?? 0)).toBe(300)
    await Promise.all(processes.map((timers) => timers.stop()))
    await others.stop()
  })

  it('survive a process that is killed in the middle of an attempt', async () => {
    const timers = stack.timers()
    await at(stack.db, timers, 'orphan')
    const child = spawn(process.execPath, [FIXTURE, stack.url, stack.prefix], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await stack.db.query(sql('update timers set leased_until = now()'))
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, `${timer.attempt}`))))
    await timers.start()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['2'])
  })

  it('survive the loss of every key in Redis, with one effect each', async () => {
    const timers = stack.timers({ queueLeaseMs: 500 })
    const [begun, flushed] = [signal(), signal()]
    timers.work('note', { ...work, concurrency: 1 }, async ({ timer, run }) => {
      begun.happen()
      await flushed.happened
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const key of keys) await at(stack.db, timers, key, ago(0))
    await begun.happened
    await until(async () => (await stack.rows()).every(({ lease }) => lease !== null))
    expect(await stack.deleteKeys()).toBeGreaterThan(0)
    flushed.happen()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys)
  })

  it('wait in PostgreSQL while Redis is down, stay ready, log it once, and go on when it is back', async () => {
    const { log, lines } = warnings()
    const wire = await Wire.to(REDIS_URL)
    const timers = stack.timers({ redis: { url: wire.through(REDIS_URL), prefix: stack.prefix }, log })
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    await timers.start()
    await at(stack.db, timers, 'before')
    await until(async () => (await stack.effects()).length === 1)
    wire.cut()
    await until(() => lines.length > 0)
    await at(stack.db, timers, 'during')
    await expect(timers.ready()).resolves.toBeUndefined()
    expect((await stack.rows()).map(({ key, lease, attempt }) => ({ key, lease, attempt }))).toEqual([
      { key: 'during', lease: null, attempt: 0 },
    ])
    await wire.restore()
    await until(async () => (await stack.effects()).length === 2)
    expect(lines).toHaveLength(1)
    await timers.stop()
    wire.cut()
  })

  it('start and stop without Redis', async () => {
    const timers = stack.timers({ redis: { url: 'redis://127.0.0.1:1', prefix: stack.prefix }, drainMs: 100 })
    timers.work('note', work, async () => {})
    await timers.start()
    await expect(timers.ready()).resolves.toBeUndefined()
    await at(stack.db, timers, 'waiting')
    await timers.stop()
    expect(await stack.rows()).toMatchObject([{ key: 'waiting', lease: null }])
  })

  it('do not keep a process alive after they were stopped when Redis was never reached', async () => {
    const worker = spawn(process.execPath, [STOPPED, stack.url, stack.prefix], { stdio: ['ignore', 'pipe', 'inherit'] })
    const stopped = once(worker.stdout, 'data').then(() => performance.now())
    const [[code], ended] = await Promise.all([
      once(worker, 'exit'),
      once(worker, 'exit').then(() => performance.now()),
    ])
    expect(code).toBe(0)
    expect(ended - (await stopped)).toBeLessThan(10_000)
  })

  it('survive Redis being killed and restarted empty, any number of times, with one effect each', async () => {
    const redis = await OwnRedis.start()
    const timers = stack.timers({ redis: { url: redis.url, prefix: stack.prefix }, queueLeaseMs: 500 })
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    await timers.start()
    const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`)
    for (const [index, key] of keys.entries()) {
      await at(stack.db, timers, key)
      if (index % 20 !== 10) continue
      await redis.kill()
      await redis.start()
    }
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys.sort())
    await timers.stop()
    await redis.stop()
  })

  it('cost no attempt while Redis hangs, and go on when it answers again', async () => {
    const redis = await OwnRedis.start()
    const { log, lines } = warnings()
    const timers = stack.timers({ redis: { url: redis.url, prefix: stack.prefix }, queueLeaseMs: 500, log })
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, `${timer.attempt}`))))
    await timers.start()
    await at(stack.db, timers, 'before')
    await until(async () => (await stack.effects()).length === 1)
    redis.freeze()
    await at(stack.db, timers, 'during')
    await until(() => lines.length > 0)
    await until(async () => (await stack.rows()).every(({ attempt, lease }) => attempt === 0 && lease === null))
    await expect(timers.ready()).resolves.toBeUndefined()
    redis.thaw()
    await until(async () => (await stack.effects()).length === 2)
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['1', '1'])
    await timers.stop()
    await redis.stop()
  })

  it('keep their place in a queue that is slower than a lease', async () => {
    // Long enough that a machine that is busy renews it in time.
    const leaseMs = 2_000
    const timers = stack.timers({ queueLeaseMs: leaseMs })
    const [begun, goOn] = [signal(), signal()]
    const order: string[] = []
    timers.work('note', { ...work, concurrency: 1 }, async ({ timer, run }) => {
      begun.happen()
      await goOn.happened
      await run(async () => void order.push(timer.key))
    })
    await timers.start()
    await at(stack.db, timers, 'first')
    await begun.happened
    for (const key of ['second', 'third', 'fourth']) {
      await at(stack.db, timers, key)
      await until(async () => (await stack.rows()).every(({ lease }) => lease !== null))
    }
    const leases = async () => (await stack.rows()).map(({ key, lease }) => `${key} ${lease}`).sort()
    const before = await leases()
    // Two leases' worth of waiting, measured by the database's clock.
    const [start] = await stack.db.query(CLOCK)
    await until(async () => ((await stack.db.query(CLOCK))[0]?.ms ?? 0) - (start?.ms ?? 0) > 2 * leaseMs)
    expect(await leases()).toEqual(before)
    goOn.happen()
    await until(async () => (await stack.rows()).length === 0)
    expect(order).toEqual(['first', 'second', 'third', 'fourth'])
  })

  it('keep an effect that is to be committed while PostgreSQL is down', async () => {
    const wire = await Wire.to(stack.url)
    const far = openDatabase(wire.through(stack.url))
    const timers = stack.timers({}, far)
    const tried = signal()
    const attempts: number[] = []
    timers.work('note', { ...work, attemptMs: 30_000 }, async ({ timer, run }) => {
      attempts.push(timer.attempt)
      wire.cut()
      setImmediate(tried.happen)
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    await at(stack.db, timers, 'k')
    await tried.happened
    await wire.restore()
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'k', text: '' }])
    expect(attempts).toEqual([1])
    await timers.stop()
    await far.stop()
    wire.cut()
  })

  it('stay with their live worker through an outage of PostgreSQL longer than their lease', async () => {
    const wire = await Wire.to(stack.url)
    const far = openDatabase(wire.through(stack.url))
    const timers = stack.timers({}, far)
    const [begun, goOn] = [signal(), signal()]
    const attempts: number[] = []
    timers.work('note', { ...work, leaseMs: 300, attemptMs: 30_000 }, async ({ timer, run }) => {
      attempts.push(timer.attempt)
      begun.happen()
      await goOn.happened
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    await at(stack.db, timers, 'k')
    await begun.happened
    wire.cut()
    // The outage lasts longer than the lease.
    await until(async () => (await stack.db.query(EXPIRED))[0]?.count === 1)
    await wire.restore()
    await until(async () => (await stack.db.query(EXPIRED))[0]?.count === 0)
    goOn.happen()
    await until(async () => (await stack.rows()).length === 0)
    expect(await stack.effects()).toEqual([{ key: 'k', text: '' }])
    expect(attempts).toEqual([1])
    await timers.stop()
    await far.stop()
    wire.cut()
  })
})
