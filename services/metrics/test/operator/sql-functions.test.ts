import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { COUNTED_EVENT_TYPES, RATE_TYPES, USAGE_TYPES } from '@restante/contracts/vocabulary'
import { Database } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { createDatabase, queryRows, type TestDatabase } from '@restante/testkit'
import fc from 'fast-check'
import { countByPeriod } from '../../src/reading/events.ts'
import { ratesAt } from '../../src/reading/rates.ts'
import { usageAt } from '../../src/reading/usage.ts'
import { addPoints } from '../../src/series/add.ts'
import { codeOf, DAY_MS, DELIVERY_COUNTS, type Point, type Scope, type SeriesName } from '../../src/series/series.ts'
import { dropPartitions, Settler } from '../../src/series/settle.ts'

const BEGIN = Date.UTC(2026, 9, 1)
const SPAN = 4 * DAY_MS
const RECIPIENTS = DELIVERY_COUNTS.map((name) => `recipients.${name}` as const)
const SERIES: readonly SeriesName[] = ['message.received', 'storage_bytes', ...RECIPIENTS]

const change = fc
  .record({
    series: fc.constantFrom(...SERIES),
    time: fc.oneof(
      fc.integer({ min: 0, max: SPAN - 1 }),
      fc.integer({ min: 0, max: SPAN / 3_600_000 }).map((hour) => hour * 3_600_000),
    ),
    value: fc.integer({ min: -50, max: 50 }),
  })
  .map((made) => (made.series === 'message.received' ? { ...made, value: 1 } : made))
const question = fc.record({
  from: fc.integer({ min: -DAY_MS, max: SPAN }),
  points: fc.integer({ min: 1, max: 60 }),
  period: fc.oneof(fc.integer({ min: 1_000, max: DAY_MS }), fc.constantFrom(60_000, 3_600_000)),
})

type Asked = typeof question extends fc.Arbitrary<infer Value> ? Value : never

describe('the SQL functions for tools of operators', () => {
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

  /** Rows of a function for an organization, in milliseconds since 1970. */
  function ask<Row extends object>(
    name: string,
    series: string,
    scope: Scope,
    range: readonly [number, number, number],
  ) {
    const [from, to, period] = range
    return queryRows<Row & { at: number }>(
      db,
      `select (extract(epoch from time) * 1000)::float8 as at, f.*
         from ${name}($1::uuid, $2, $3::timestamptz, $4::timestamptz, $5::interval) as f`,
      scope.id,
      series,
      new Date(from).toISOString(),
      new Date(to).toISOString(),
      `${period} milliseconds`,
    )
  }

  async function expectSameNumbers(scope: Scope, { from: offset, points, period }: Asked) {
    const range = { from: BEGIN + offset, to: BEGIN + offset + points * period }
    const asked = [range.from, range.to, period] as const
    const type = 'message.received'
    const events = await countByPeriod(db, { scope, types: [type], range, limit: points, descending: false, period })
    const counted = await ask<{ count: string }>('metrics_events', type, scope, asked)
    expect(counted).toHaveLength(points)
    expect(counted.filter(({ count }) => count !== '0').map(({ at, count }) => [at, Number(count)])).toEqual(
      events.get(type)?.map(({ index, sum }) => [range.from + index * period, sum]),
    )

    const usage = await usageAt(db, { scope, types: ['storage_bytes'], range, period })
    const measured = await ask<{ value: string }>('metrics_usage', 'storage_bytes', scope, asked)
    expect(measured.map(({ at, value }) => ({ at, value: Number(value) }))).toEqual(usage.get('storage_bytes'))

    const window = Math.ceil(DAY_MS / period) * period
    const rates = await ratesAt(db, { scope, types: RATE_TYPES, range, period, window })
    for (const name of RATE_TYPES) {
      const rated = await ask<{ value: number | null; sent: string }>('metrics_rates', name, scope, asked)
      expect(rated.map(({ at, value, sent }) => ({ at, rate: value, sent: Number(sent) }))).toEqual(rates.get(name))
    }
  }

  it('answer with the numbers of the service, whatever is settled', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 20 }),
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (batches, questions) => {
        const scope: Scope = { tier: 'organization', id: randomUUID() }
        for (const [index, batch] of batches.entries()) {
          const points = batch.map(({ series, time, value }): Point => {
            const isUsage = series === 'storage_bytes'
            return { scope, series, at: BEGIN + time, value: isUsage ? value : Math.abs(value) }
          })
          await db.transaction((tx) => addPoints(tx, points))
          if (index % 7 === 3) await settler.settle()
        }
        for (const asked of questions) await expectSameNumbers(scope, asked)
      },
    )
    await fc.assert(property, { numRuns: 25, endOnFailure: true })
  })

  it('answer so after runs were dropped, from what is left of them', async () => {
    const scope: Scope = { tier: 'organization', id: randomUUID() }
    const noon = Date.UTC(2026, 5, 1, 12)
    await db.transaction((tx) => addPoints(tx, [{ scope, series: 'storage_bytes', at: noon, value: 700 }]))
    await settler.settle()
    await dropPartitions(db, Math.floor(noon / DAY_MS) + 8)
    await expectSameNumbers(scope, { from: noon - DAY_MS - BEGIN, points: 4, period: DAY_MS })
  })

  it('know every series by the number that the service gives it', async () => {
    const names: SeriesName[] = [...COUNTED_EVENT_TYPES, ...USAGE_TYPES.organization, ...RECIPIENTS]
    const rows = await queryRows<{ name: string; code: number | null }>(
      db,
      'select name, metrics_code(name)::int as code from unnest($1::text[]) as name',
      names,
    )
    expect(rows).toEqual(names.map((name) => ({ name, code: codeOf(name) })))
  })
})
