import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { COUNTED_EVENT_TYPES, RATE_TYPES, type UsageType } from '@restante/contracts/vocabulary'
import { Database, sqlUnprepared } from '@restante/service/database'
import { createDatabase, queryRows, type TestDatabase } from '@restante/testkit'
import { z } from 'zod'
import { countByPeriod } from '../../src/reading/events.ts'
import { ratesAt } from '../../src/reading/rates.ts'
import { usageAt } from '../../src/reading/usage.ts'
import { addPoints } from '../../src/series/add.ts'
import { DAY_MS, type Point, type Scope } from '../../src/series/series.ts'

const file = path.resolve(import.meta.dirname, '../../../../deploy/observability/dashboards/organization.json')
const dashboard = z.object({
  panels: z.array(
    z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ rawSql: z.string() })).default([]) }),
  ),
})

const HOUR = 3_600_000
const TO = Date.UTC(2026, 10, 20, 9, 30)
const RANGE = { from: TO - 7 * DAY_MS, to: TO }
const scope: Scope = { tier: 'organization', id: randomUUID() }
const numeric = z.union([z.null(), z.coerce.number()])
const row = z.object({ time: z.date().optional(), metric: z.string().optional(), value: numeric })

/** What happened: of each series something, some of it before the range. */
function points(): Point[] {
  const at = (hours: number) => TO - hours * HOUR
  const of = (series: Point['series'], value: number, ...hours: number[]) =>
    hours.map((before): Point => ({ scope, series, at: at(before), value }))
  return [
    ...of('message.received', 1, 200, 150, 150, 20, 1),
    ...of('message.sent', 1, 100, 99, 3),
    ...of('message.bounced', 1, 2),
    ...of('storage_bytes', 4_096, 300, 150, 1),
    ...of('message_count', 1, 300, 150, 1),
    ...of('thread_count', 1, 300),
    ...of('inbox_count', 1, 300, 50),
    ...of('recipients.sent', 5, 100, 3),
    ...of('recipients.bounced', 1, 2),
  ]
}

describe('the dashboard of an organization', () => {
  let database: TestDatabase
  let db: Database
  let reader: Database
  let queries: ReadonlyMap<string, string>
  const role = `reader_${randomUUID().replaceAll('-', '')}`

  beforeAll(async () => {
    database = await createDatabase(path.resolve(import.meta.dirname, '../..'))
    db = new Database({ url: database.url, applicationName: 'test' })
    const { panels } = dashboard.parse(JSON.parse(await readFile(file, 'utf8')))
    queries = new Map(panels.flatMap(({ title, targets }) => targets.map(({ rawSql }) => [title, rawSql] as const)))
    await db.transaction((tx) => addPoints(tx, points()))
    // The role of docs/guide-operators.md.
    await db.query(sqlUnprepared<never>(`create role ${role} login`))
    await db.query(
      sqlUnprepared<never>(`grant execute on function metrics_events, metrics_usage, metrics_rates to ${role}`),
    )
    const url = new URL(database.url)
    url.username = role
    reader = new Database({ url: url.href, applicationName: 'test' })
  })
  afterAll(async () => {
    await reader.stop()
    await db.query(sqlUnprepared<never>(`drop owned by ${role}`))
    await db.query(sqlUnprepared<never>(`drop role ${role}`))
    await db.stop()
    await database.drop()
  })

  /** Runs the query of a panel as Grafana sends it, in its macros and variables a range and an organization. */
  async function ask(title: string) {
    const quoted = (ms: number) => `'${new Date(ms).toISOString()}'`
    const text = (queries.get(title) ?? '')
      .replaceAll('$__timeFrom()', quoted(RANGE.from))
      .replaceAll('$__timeTo()', quoted(RANGE.to))
      .replaceAll('$__interval_ms', String(HOUR))
      .replaceAll('$' + '{organization:sqlstring}', `'${scope.id}'`)
    expect(text).not.toContain('$')
    return z.array(row).parse(await queryRows(reader, text))
  }

  /** The values of a panel by series, in the order of their times. */
  async function seriesIn(title: string): Promise<Record<string, [number, number | null][]>> {
    const series: Record<string, [number, number | null][]> = {}
    for (const { time, metric = '', value } of await ask(title)) {
      series[metric] ??= []
      series[metric].push([time?.getTime() ?? 0, value])
    }
    return series
  }

  it('shows the events that the service counts', async () => {
    const types = COUNTED_EVENT_TYPES
    const found = await countByPeriod(db, { scope, types, range: RANGE, limit: 1_000, descending: false, period: HOUR })
    const shown = await seriesIn('Events by type')
    expect(Object.keys(shown).sort()).toEqual([...types].sort())
    for (const type of types) {
      expect(shown[type]).toHaveLength(7 * 24)
      expect(shown[type]?.filter(([, count]) => count !== 0)).toEqual(
        found.get(type)?.map(({ index, sum }) => [RANGE.from + index * HOUR, sum]),
      )
    }
    expect([await ask('Received'), await ask('Sent')]).toEqual([[{ value: 4 }], [{ value: 3 }]])
  })

  it('shows the usage that the service measures', async () => {
    const panels: readonly (readonly [string, readonly UsageType[]])[] = [
      ['Storage', ['storage_bytes']],
      ['Messages and threads', ['message_count', 'thread_count']],
      ['Inboxes, domains and pods', ['inbox_count', 'domain_count', 'pod_count']],
    ]
    for (const [title, types] of panels) {
      const found = await usageAt(db, { scope, types, range: RANGE, period: HOUR })
      const expected = types.map((type) => [type, found.get(type)?.map(({ at, value }) => [at, value])])
      expect(await seriesIn(title)).toEqual(Object.fromEntries(expected))
    }
  })

  it('shows the rates that the service answers with, and those of the last day', async () => {
    const asked = { scope, types: RATE_TYPES, period: HOUR, window: DAY_MS }
    const found = await ratesAt(db, { ...asked, range: RANGE })
    const expected = RATE_TYPES.map((type) => [type, found.get(type)?.map(({ at, rate }) => [at, rate])])
    expect(await seriesIn('Bounces and complaints')).toEqual(Object.fromEntries(expected))
    expect([await ask('Bounce rate'), await ask('Complaint rate')]).toEqual([[{ value: 0.2 }], [{ value: 0 }]])
  })

  it('has no panel without such a test', () => {
    expect([...queries.keys()].sort()).toEqual(
      [
        ...['Received', 'Sent', 'Bounce rate', 'Complaint rate', 'Events by type', 'Bounces and complaints'],
        ...['Storage', 'Messages and threads', 'Inboxes, domains and pods'],
      ].sort(),
    )
  })

  it('needs a role that may read no table', async () => {
    for (const table of ['entities', 'arrivals', 'runs', 'totals', 'outbox'])
      await expect(queryRows(reader, `select 1 from ${table}`)).rejects.toThrow('permission denied')
  })
})
