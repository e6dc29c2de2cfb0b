import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Database } from '@restante/service/database'
import { createDatabase, type TestDatabase } from '@restante/testkit'
import { showOrganization } from '../../src/operator/show.ts'
import { addPoints } from '../../src/series/add.ts'
import type { Point, Scope } from '../../src/series/series.ts'

const END = Date.UTC(2026, 10, 1)
const MINUTE = 60_000

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createDatabase(path.resolve(import.meta.dirname, '../..'))
  db = new Database({ url: database.url, applicationName: 'test' })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})

it('shows events of each period, and totals and rates at its end, so that the last are the present ones', async () => {
  const id = randomUUID()
  const scope: Scope = { tier: 'organization', id }
  const point = (series: Point['series'], at: number, value = 1): Point => ({ scope, series, at, value })
  const stored = [point('message_count', END - 9 * MINUTE), point('message_count', END - 1)]
  const happened = [point('message.received', END - 9 * MINUTE), point('message.received', END - 1)]
  const sent = [point('recipients.sent', END - 1, 4), point('recipients.bounced', END - 1, 1)]
  await db.transaction((tx) => addPoints(tx, [...stored, ...happened, ...sent]))
  const [start, end] = [END - 10 * MINUTE, END].map((time) => new Date(time).toISOString())
  const shown = await showOrganization(db, { organization_id: id, start: start ?? '', end: end ?? '', points: 5 })
  expect(shown.events['message.received']).toEqual([1, 0, 0, 0, 1])
  expect(shown.usage['message_count']).toEqual([1, 1, 1, 1, 2])
  expect(shown.rates['bounce']).toEqual([null, null, null, null, 0.25])
})
