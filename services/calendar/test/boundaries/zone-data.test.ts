import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { ZoneData } from '../../src/boundaries/index.ts'
import { edit, oneOff, series } from '../dates/states.ts'
import { BoundaryStack } from './boundary-stack.ts'
import { BoundaryProcess } from './process.ts'

const LATER = sql<never, [id: string]>(
  `update events set start_at = start_at + interval '1 hour', end_at = end_at + interval '1 hour' where id = $1`,
)
const LATER_EDITS = sql<never, [id: string]>(
  `update edits set start_at = '2050-01-01T00:00:00Z', end_at = '2050-01-01T00:30:00Z' where event_id = $1`,
)
const LATER_TIMER = sql<never, [id: string]>(`update timers set due_at = due_at + interval '1 hour' where key = $1`)
const DUE = sql<{ due_at: Date; key: string }>('select due_at, key from timers')

let stack: BoundaryStack
beforeAll(async () => {
  stack = await BoundaryStack.create()
  await stack.process()
})
afterAll(() => stack.stop())

it('computes instants of the future anew with other time zone data, once, and tells nobody', async () => {
  const single = await stack.create(oneOff('2050-03-03T09:00:00', '2050-03-03T10:00:00'))
  const edited = edit('2050-03-07T09:00:00', 'single', { start: '2050-03-08T09:00:00' })
  const daily = { start: '2050-03-03T09:00:00', end: '2050-03-03T09:30:00' }
  const repeated = await stack.create({ ...series(daily), edits: [edited] })
  const past = await stack.create(oneOff('2020-03-03T09:00:00', '2020-03-03T10:00:00', { seen_until: new Date() }))
  for (const { event } of [single, repeated, past]) {
    await stack.db.query(LATER, event.id)
    await stack.db.query(LATER_EDITS, event.id)
    await stack.db.query(LATER_TIMER, event.id)
  }
  const due = async (key: string) => (await stack.db.query(DUE)).find((timer) => timer.key === key)?.due_at
  const process = new BoundaryProcess(stack.options)
  const zoneData = new ZoneData({ db: process.db, timers: process.timers, version: '2050a' })
  await process.timers.start()
  await zoneData.start()
  const isDone = async () => ((await due('2050a'))?.getUTCFullYear() ?? 0) > 9_000
  await waitFor(isDone, { what: 'the end of the work' })
  const start = new Date('2050-03-03T08:00:00Z')
  expect((await stack.load(single)).event).toMatchObject({ start_at: start, revision: 0 })
  expect((await stack.load(repeated)).event.start_at).toEqual(start)
  expect((await stack.load(repeated)).edits).toMatchObject([{ start_at: new Date('2050-03-08T08:00:00Z') }])
  expect((await stack.load(past)).event.start_at).toEqual(new Date('2020-03-03T09:00:00Z'))
  expect(await due(single.event.id)).toEqual(start)
  expect(await due(repeated.event.id)).toEqual(start)
  expect(await stack.told(single, repeated, past)).toEqual([])
  await stack.db.query(LATER, single.event.id)
  await zoneData.start()
  expect((await due('2050a'))?.getUTCFullYear()).toBeGreaterThan(9_000)
  await process.stop()
})
