import { createLogger } from '@restante/service/telemetry'
import { lastingPeriod, openRedis, type TestRedis, waitFor } from '@restante/testkit'
import { HourlyCounters } from '../src/rates/hourly-counters.ts'
import { KnownCounts } from '../src/rates/known-counts.ts'

const log = createLogger({ service: 'test', level: 'silent' })
let redis: TestRedis
const open: HourlyCounters[] = []

beforeAll(() => {
  redis = openRedis()
})
// What counts of the hour before would change at its end.
beforeEach(() => lastingPeriod(3_600_000))
afterAll(async () => {
  for (const counters of open) await counters.stop()
  await redis.close()
})

async function replica(url: string | undefined = redis.url): Promise<HourlyCounters> {
  const counters = new HourlyCounters({ url, prefix: redis.prefix, log })
  open.push(counters)
  await counters.start()
  if (url === redis.url) {
    const working = () =>
      counters.working().then(
        () => true,
        () => false,
      )
    await waitFor(working, { what: 'redis' })
  }
  return counters
}

const counter = (key: string, limit: number) => ({ name: 'inbox', group: 'g', key, limit }) as const
const granted = async (counters: HourlyCounters, key: string, limit: number, amount = 1) =>
  (await counters.take([{ counter: counter(key, limit), amount }])) === undefined

describe('a limit per hour', () => {
  it('is shared by replicas, and exact near the limit', async () => {
    const [one, two] = [await replica(), await replica()]
    for (let mail = 0; mail < 6; mail++) expect(await granted(one, 'shared', 10)).toBe(true)
    await waitFor(async () => /^\d+ 6 0$/.test((await redis.client.get(`${redis.prefix}:{g}:shared`)) ?? ''), {
      what: 'the report of the first replica',
    })
    const rest = await Promise.all(Array.from({ length: 6 }, () => granted(two, 'shared', 10)))
    expect(rest).toEqual([true, true, true, true, false, false])
    expect(await granted(one, 'shared', 10)).toBe(false)
  })

  it('takes nothing of any counter when one of them has no room', async () => {
    const counters = await replica()
    const takes = [
      { counter: counter('wide', 100), amount: 1 },
      { counter: counter('narrow', 1), amount: 1 },
    ]
    expect(await counters.take(takes)).toBeUndefined()
    for (let again = 0; again < 3; again++) expect(await counters.take(takes)).toMatchObject({ key: 'narrow' })
    expect(await redis.client.get(`${redis.prefix}:{g}:wide`)).toMatch(/^\d+ 1 0$/)
  })

  it('slides: of the previous hour, the part less than an hour ago counts', async () => {
    const counters = await replica()
    const [seconds] = await redis.client.time()
    const hour = Math.floor(Number(seconds) / 3600)
    await redis.client.set(`${redis.prefix}:{g}:slides`, `${hour - 1} 1000000 0`)
    const room = ((Number(seconds) % 3600) / 3600) * 1_000_000
    // There is more room by the second, and the machine may stand still: room for a minute more.
    expect(await granted(counters, 'slides', 1_000_000, Math.ceil(room) + 20_000)).toBe(false)
    expect(await granted(counters, 'slides', 1_000_000, Math.floor(room * 0.95))).toBe(true)
  })

  it('can be given back', async () => {
    const counters = await replica()
    const takes = [{ counter: counter('back', 2), amount: 2 }]
    expect(await counters.take(takes)).toBeUndefined()
    expect(await counters.take(takes)).toBeDefined()
    counters.add([{ counter: counter('back', 2), amount: -2 }])
    expect(await counters.take(takes)).toBeUndefined()
  })

  it.each([
    ['without Redis', undefined],
    ['while Redis is away', 'redis://127.0.0.1:9'],
  ])('applies to each process separately %s', async (_, url) => {
    const counters = new HourlyCounters({ url, prefix: redis.prefix, log })
    open.push(counters)
    await counters.start()
    const results: boolean[] = []
    for (let mail = 0; mail < 4; mail++) results.push(await granted(counters, `alone ${url}`, 3))
    expect(results).toEqual([true, true, true, false])
  })
})

describe('the counters kept by a process', () => {
  it('are bounded: the least recently used is dropped', () => {
    const known = new KnownCounts(100)
    for (let index = 0; index < 1_000; index++) known.of(counter(`k${index}`, 1)).count = 1
    expect(known.of(counter('k999', 1)).count).toBe(1)
    expect(known.of(counter('k0', 1)).count).toBe(0)
  })
})
