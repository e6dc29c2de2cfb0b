import type { Rate } from '@restante/service/configuration'
import { createLogger } from '@restante/service/telemetry'
import { Wire } from '@restante/service/testing'
import { openRedis, type TestRedis, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { bucketOf, type Charge, type Refusal } from '../../src/edge/rate-limits/buckets.ts'
import { Meter } from '../../src/edge/rate-limits/meter.ts'

const log = createLogger({ service: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' })

const rate = (requests: number, burst: number): Rate => ({ requests, period: 'second', periodMs: 1_000, burst })
/** Far less than 200 requests take that wait for Redis one after another, and time enough on a busy machine. */
const AT_ONCE_MS = 5_000
/** Buckets that gain nothing while a test runs. */
const hourly = (burst: number): Rate => ({ requests: 1, period: 'hour', periodMs: 3_600_000, burst })

const passed = (refusals: readonly (Refusal | undefined)[]): number =>
  refusals.filter((refusal) => refusal === undefined).length

async function meteredLocally(): Promise<number> {
  const metric = await register.getSingleMetric('restante_rate_limits_metered_locally_total')?.get()
  return metric?.values[0]?.value ?? 0
}

describe('counting requests', () => {
  let redis: TestRedis
  let wire: Wire
  let near: Meter
  let far: Meter
  let names = 0

  beforeAll(async () => {
    redis = openRedis()
    wire = await Wire.to(redis.url)
    near = new Meter({ url: wire.through(redis.url), log })
    far = new Meter({ url: redis.url, log })
    await Promise.all([near.start(), far.start()])
    await Promise.all([near, far].map((meter) => waitFor(() => works(meter), { what: 'Redis' })))
  })
  afterAll(async () => {
    await Promise.all([near.stop(), far.stop()])
    wire.cut()
    await redis.close()
  })

  const works = (meter: Meter): Promise<true> => meter.working().then(() => true)

  /** Unused buckets. */
  function charge(shared: Rate, own?: Rate, group = `${redis.prefix}:{${++names}}`): Charge {
    const bucket = bucketOf('organization', group, shared)
    if (own === undefined) return { shared: bucket }
    return { shared: bucket, own: bucketOf('credential', `${group}:${++names}`, own) }
  }

  const many = (meter: Meter, of: Charge, count: number) =>
    Promise.all(Array.from({ length: count }, () => meter.take(of)))

  /** Both ways of counting, by one table: they must not differ. */
  describe.each([
    ['shared', async () => {}, async () => {}],
    [
      'local, while Redis is away',
      async () => {
        wire.cut()
        await waitFor(
          () =>
            near.working().then(
              () => false,
              () => true,
            ),
          { what: 'the outage' },
        )
      },
      async () => {
        await wire.restore()
        await waitFor(() => works(near), { what: 'Redis' })
      },
    ],
  ])('%s', (_how, before, after) => {
    beforeAll(before)
    afterAll(after)

    it('admits exactly a burst, whether concurrently or one by one', async () => {
      const atOnce = charge(hourly(20))
      expect(passed(await many(near, atOnce, 50))).toBe(20)
      const oneByOne = charge(hourly(5))
      const outcomes: (Refusal | undefined)[] = []
      for (let request = 0; request < 8; request++) outcomes.push(await near.take(oneByOne))
      expect(outcomes.map((refusal) => refusal === undefined)).toEqual([...Array(5).fill(true), false, false, false])
    })

    it('reports when the next request is admitted, and then admits one', async () => {
      const slow = charge(rate(2, 2))
      const began = performance.now()
      const [, , refusal] = await many(near, slow, 3)
      expect(refusal?.bucket).toEqual(slow.shared)
      expect(refusal?.waitMs).toBeGreaterThan(0)
      expect(refusal?.waitMs).toBeLessThanOrEqual(500)
      await waitFor(async () => (await near.take(slow)) === undefined, { what: 'a token', interval: 1 })
      expect(performance.now() - began).toBeGreaterThanOrEqual((refusal?.waitMs ?? 0) - 2)
    })

    it('fills a bucket up again, and not beyond', async () => {
      const quick = charge(rate(100, 10))
      await many(near, quick, 10)
      const began = performance.now()
      await waitFor(() => performance.now() - began > 200, { what: 'time for twenty tokens' })
      const filled = performance.now()
      const admitted = passed(await many(near, quick, 40))
      // Of a hundred a second some may have come while the others were counted.
      const more = Math.ceil((performance.now() - filled) / 10)
      expect(admitted).toBeGreaterThanOrEqual(10)
      expect(admitted).toBeLessThanOrEqual(10 + more)
    })

    it('takes from every bucket or from none, and names the empty one', async () => {
      const narrow = charge(hourly(10), hourly(4))
      const wide = { shared: narrow.shared, own: bucketOf('credential', `${narrow.shared.key}:wide`, hourly(100)) }
      const [ofNarrow, ofWide] = await Promise.all([many(near, narrow, 7), many(near, wide, 20)])
      expect([passed(ofNarrow), passed(ofWide)]).toEqual([4, 6])
      expect(ofNarrow.at(-1)?.bucket.limit).toBe('credential')
      expect(ofWide.at(-1)?.bucket.limit).toBe('organization')
      // The refusal of the shared bucket has cost the own one nothing.
      const alone = { shared: charge(hourly(1_000)).shared, own: wide.own }
      expect(passed(await many(near, alone, 200))).toBe(94)
    })

    it('keeps groups of one turn separate', async () => {
      const charges = Array.from({ length: 30 }, (_, index) => charge(hourly(index + 1), hourly(100)))
      const outcomes = await Promise.all(charges.map((each) => many(near, each, 40)))
      expect(outcomes.map(passed)).toEqual(charges.map((_, index) => index + 1))
    })
  })

  it('counts for all gateways together', async () => {
    const together = charge(hourly(30), hourly(1_000))
    const outcomes = await Promise.all([many(near, together, 40), many(far, together, 40)])
    expect(passed(outcomes.flat())).toBe(30)
  })

  it('counts requests admitted locally a moment later', async () => {
    const quiet = charge(hourly(100), hourly(100))
    for (let request = 0; request < 30; request++) expect(await near.take(quiet)).toBeUndefined()
    const counted = async () => {
      const full = Number(await redis.client.get(quiet.shared.key))
      return Math.round((full / 1_000 - Date.now()) / 3_600_000)
    }
    await waitFor(async () => (await counted()) === 30, { what: 'all of them to be counted' })
    expect(passed(await many(far, quiet, 100))).toBe(70)
  })

  it('admits at most half a burst too many when another gateway empties the bucket, and recovers it', async () => {
    const together = charge(rate(10, 20))
    await near.take(together)
    const began = performance.now()
    expect(passed(await many(far, together, 40))).toBeGreaterThanOrEqual(19)
    const ahead = passed(await many(near, together, 40))
    // A token comes every 100 ms, also while the others are counted.
    expect(ahead).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - began) / 100))
    await waitFor(async () => (await far.take(together)) === undefined, { what: 'a token', interval: 1 })
    expect(performance.now() - began).toBeGreaterThanOrEqual((ahead - 1) * 100 - 50)
  })

  it('leaves no key in Redis once its bucket is full', async () => {
    const brief = charge(rate(2, 5))
    await many(near, brief, 5)
    expect(await redis.client.exists(brief.shared.key)).toBe(1)
    expect(await redis.client.pttl(brief.shared.key)).toBeLessThanOrEqual(2_501)
    await waitFor(async () => (await redis.client.exists(brief.shared.key)) === 0, { what: 'the key to go' })
  })

  it('is blocked no longer than a bucket takes to fill twice when the clock of Redis goes back', async () => {
    const skewed = charge(rate(10, 5))
    await redis.client.set(skewed.shared.key, String((Date.now() + 3_600_000) * 1_000))
    const refusal = await near.take(skewed)
    expect(refusal?.waitMs).toBeLessThanOrEqual(601)
  })

  describe('while Redis hangs', () => {
    beforeAll(() => wire.hold())
    afterAll(() => wire.restore())

    it('delays only requests already waiting, and these for a moment', async () => {
      const before = await meteredLocally()
      const charged = charge(hourly(5))
      const began = performance.now()
      expect(passed(await many(near, charged, 10))).toBe(5)
      expect(performance.now() - began).toBeLessThan(AT_ONCE_MS)
      const then = performance.now()
      for (let request = 0; request < 200; request++) await near.take(charge(hourly(5)))
      expect(performance.now() - then).toBeLessThan(AT_ONCE_MS)
      expect((await meteredLocally()) - before).toBe(210)
      await expect(near.working()).rejects.toThrow('do not answer')
    })
  })
})
