import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Database, sqlUnprepared } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { countRows, createDatabase, queryRows, type TestDatabase, waitFor } from '@restante/testkit'
import fc from 'fast-check'
import { listEvents } from '../../src/reading/events.ts'
import { addPoints } from '../../src/series/add.ts'
import { ArrivalsGauge } from '../../src/series/backlog.ts'
import { periodSums, probe, totalsBefore } from '../../src/series/read.ts'
import { DAY_MS, type Point, type Scope, type SeriesName } from '../../src/series/series.ts'
import { dropPartitions, Settler } from '../../src/series/settle.ts'
import { periodSumsOf } from '../../src/series/sums.ts'
import { arrivals, oldestArrival } from '../../src/series/telemetry.ts'
import { misplacedRuns } from '../support/runs.ts'

const SERIES = ['message.received', 'storage_bytes'] as const
const BEGIN = Date.UTC(2026, 9, 1)
const SPAN = 3 * DAY_MS

let database: TestDatabase
let db: Database
let settler: Settler

beforeAll(async () => {
  database = await createDatabase(path.resolve(import.meta.dirname, '../..'))
  db = new Database({ url: database.url, applicationName: 'test' })
  settler = new Settler({ db, log: createLogger({ service: 'test', level: 'silent' }) })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})

const newScope = (): Scope => ({ tier: 'inbox', id: randomUUID() })

/** Times are bundled, so that many points share a millisecond, a second or a bound of a period. */
const time = fc.oneof(
  fc.integer({ min: 0, max: SPAN - 1 }),
  fc.integer({ min: 0, max: SPAN / 1_000 - 1 }).map((second) => second * 1_000),
  fc.integer({ min: 0, max: 5 }).map((ms) => DAY_MS - 3 + ms),
)
const change = fc.record({
  series: fc.constantFrom<SeriesName>(...SERIES),
  time,
  value: fc.oneof(fc.constant(1), fc.integer({ min: -1_000_000, max: 1_000_000 })),
})
const history = fc.array(fc.array(change, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 25 })
/** Most bounds of a question: each is looked up by itself. */
const BOUNDS = 2_000
const question = fc
  .record({
    from: fc.integer({ min: -DAY_MS, max: SPAN }),
    width: fc.oneof(fc.integer({ min: 1, max: BOUNDS * 1_000 }), fc.integer({ min: 1, max: 2 * DAY_MS })),
    period: fc.oneof(fc.integer({ min: 1_000, max: DAY_MS }), fc.constantFrom(1_000, 60_000, 3_600_000, DAY_MS)),
  })
  .map((asked) => ({ ...asked, period: Math.max(asked.period, Math.ceil(asked.width / BOUNDS)) }))

function pointsIn(scope: Scope, batch: readonly { series: SeriesName; time: number; value: number }[]): Point[] {
  return batch.map(({ series, time: at, value }) => ({
    scope,
    series,
    at: BEGIN + at,
    value: series === 'message.received' ? 1 : value,
  }))
}

function sumsByHand(
  points: readonly Point[],
  series: SeriesName,
  { from, to, period }: { from: number; to: number; period: number },
) {
  const sums = new Map<number, number>()
  for (const { series: of, at, value } of points) {
    if (of !== series || at < from || at >= to) continue
    const index = Math.floor((at - from) / period)
    sums.set(index, (sums.get(index) ?? 0) + value)
  }
  return [...sums]
    .filter(([, sum]) => sum !== 0)
    .sort(([a], [b]) => a - b)
    .map(([index, sum]) => ({ index, sum }))
}

describe('sums, times and totals', () => {
  it('equal a count by hand, whatever is settled, in any range and period', async () => {
    const property = fc.asyncProperty(
      history,
      fc.array(question, { minLength: 1, maxLength: 6 }),
      async (batches, questions) => {
        const scope = newScope()
        const points: Point[] = []
        for (const [index, batch] of batches.entries()) {
          const added = pointsIn(scope, batch)
          points.push(...added)
          await db.transaction((tx) => addPoints(tx, added))
          if (index % 7 === 3) await settler.settle()
        }
        for (const { from: offset, width, period } of questions) {
          const grid = { from: BEGIN + offset, to: BEGIN + offset + width, period }
          const sums = await periodSums(db, scope, SERIES, grid)
          const last = Math.ceil(width / period)
          const spans = SERIES.map((series) => ({ series, first: 0, last }))
          const probed = await probe(db, scope, spans, grid)
          const running = await probe(db, scope, spans, { ...grid, sinceEver: true })
          for (const series of SERIES) {
            const byHand = sumsByHand(points, series, grid)
            expect(sums.get(series) ?? []).toEqual(byHand)
            expect(periodSumsOf(probed.get(series), 0)).toEqual(byHand)
            if (series === 'storage_bytes') expect(periodSumsOf(running.get(series), 0)).toEqual(byHand)
          }
          const totals = await totalsBefore(db, scope, ['storage_bytes'], grid.to)
          const before = points.filter(({ series, at }) => series === 'storage_bytes' && at < grid.to)
          expect(totals.get('storage_bytes') ?? 0).toBe(before.reduce((sum, { value }) => sum + value, 0))
          const times = await listEvents(db, {
            scope,
            types: ['message.received'],
            range: grid,
            limit: 30,
            descending: period % 2 === 0,
          })
          const received = points
            .filter(({ series, at }) => series === 'message.received' && at >= grid.from && at < grid.to)
            .map(({ at }) => at)
            .sort((a, b) => (period % 2 === 0 ? b - a : a - b))
          expect(times.get('message.received')?.map(({ index }) => grid.from + index)).toEqual(received.slice(0, 30))
        }
      },
    )
    await fc.assert(property, { numRuns: 40, endOnFailure: true })
    expect(await misplacedRuns(db)).toEqual([])
  })
})

describe('settling', () => {
  it.each([
    { series: 'message.sent', sizes: [1_900, 100] },
    { series: 'storage_bytes', sizes: [640, 640, 640, 80] },
  ] as const)(
    'puts the points of a day of $series into runs of a page, in order, and leaves none behind',
    async ({ series, sizes }) => {
      const scope = newScope()
      const points = Array.from({ length: 2_000 }, (_, index): Point => {
        const at = BEGIN + ((index * 7_919) % 40_000) * 1_000
        return { scope, series, at, value: series === 'message.sent' ? 1 : 40_000_000 + index }
      })
      for (let from = 0; from < points.length; from += 50)
        await db.transaction((tx) => addPoints(tx, points.slice(from, from + 50)))
      await settler.settle()
      const runs = await queryRows<{ size: number; first_ms: number; last_ms: number }>(
        db,
        'select cardinality(times) as size, first_ms, last_ms from runs where scope_id = $1 order by first_ms',
        scope.id,
      )
      expect(runs.map(({ size }) => size)).toEqual(sizes)
      expect(runs.every(({ first_ms }, index) => index === 0 || first_ms >= (runs[index - 1]?.last_ms ?? 0))).toBe(true)
      expect(await queryRows(db, 'select id from arrivals where scope_id = $1', scope.id)).toEqual([])
    },
  )

  it('has every run know what its day has before it, with points that come late and many in one millisecond', async () => {
    const scope = newScope()
    const [noon, evening, morning] = [12, 20, 6].map((hour) => BEGIN + hour * 3_600_000)
    const points: Point[] = []
    const settle = async (at: number | undefined, count: number, step: number) => {
      const added = Array.from({ length: count }, (_, index): Point => {
        return { scope, series: 'message_count', at: (at ?? BEGIN) + index * step, value: index % 3 === 0 ? -1 : 2 }
      })
      points.push(...added)
      await db.transaction((tx) => addPoints(tx, added))
      await settler.settle()
    }
    await settle(noon, 1_500, 0)
    await settle(evening, 2_000, 1)
    await settle(morning, 700, 10)
    await settle(noon, 300, 0)
    expect(await misplacedRuns(db)).toEqual([])
    const grid = { from: BEGIN, to: BEGIN + DAY_MS, period: 1_800_000 }
    const found = await probe(db, scope, [{ series: 'message_count', first: 0, last: 48 }], grid)
    expect(periodSumsOf(found.get('message_count'), 0)).toEqual(sumsByHand(points, 'message_count', grid))
  })

  it('leaves what is little to the end of its day, and settles what becomes enough in the meantime', async () => {
    const [quiet, busy] = [newScope(), newScope()]
    // Of a day that does not end in the next hour.
    const at = Date.now() + 3_600_000
    const add = async (scope: Scope, rows: number) => {
      for (let row = 0; row < rows; row++)
        await db.transaction((tx) => addPoints(tx, [{ scope, series: 'message.sent', at, value: 1 }]))
    }
    const waiting = async () => [
      await countRows(db, 'arrivals where scope_id = $1', quiet.id),
      await countRows(db, 'arrivals where scope_id = $1', busy.id),
    ]
    await add(quiet, 3)
    await add(busy, 10)
    for (let looks = 0; looks < 3; looks++) await settler.settle()
    expect(await waiting()).toEqual([3, 10])
    await add(quiet, 1)
    await add(busy, 6)
    await settler.settle()
    expect(await waiting()).toEqual([4, 0])
  })

  it('reports how much waits, and since when', async () => {
    const gauge = new ArrivalsGauge({ db, log: createLogger({ service: 'test', level: 'silent' }) })
    const at = Date.now() - 50 * 3_600_000
    await db.transaction((tx) => addPoints(tx, [{ scope: newScope(), series: 'message.sent', at, value: 1 }]))
    // What connections report late is counted twice by an `analyze` before it, so that it takes another one to know.
    const measured = async () => {
      await db.query(sqlUnprepared('analyze arrivals'))
      await gauge.measure()
      return (await arrivals.get()).values[0]?.value === (await countRows(db, 'arrivals'))
    }
    await waitFor(measured, { what: 'PostgreSQL to know the rows', timeout: 40_000 })
    const [oldest] = (await oldestArrival.get()).values
    expect(oldest?.value).toBeGreaterThanOrEqual(50 * 3_600)
  })

  it('keeps running totals when runs are dropped, as one step at the end of their day', async () => {
    const scope = newScope()
    const noon = Date.UTC(2026, 5, 1, 12)
    await db.transaction((tx) => addPoints(tx, [{ scope, series: 'message_count', at: noon, value: 1 }]))
    await settler.settle()
    await db.query(sqlUnprepared('create table kept_by_hand partition of runs for values from (-60) to (-30)'))
    const dropped = await dropPartitions(db, Math.floor(noon / DAY_MS) + 30)
    expect(dropped).toEqual([expect.stringMatching(/^runs_from_\d+$/)])
    expect(await countRows(db, 'kept_by_hand')).toBe(0)
    const day = noon - (noon % DAY_MS)
    const at = (time: number) =>
      totalsBefore(db, scope, ['message_count'], time).then((totals) => totals.get('message_count') ?? 0)
    expect([await at(noon + 1), await at(day + DAY_MS)]).toEqual([0, 1])
    const grid = { from: day, to: day + 2 * DAY_MS, period: DAY_MS }
    expect((await periodSums(db, scope, ['message_count'], grid)).get('message_count')).toEqual([{ index: 0, sum: 1 }])
  })
})
