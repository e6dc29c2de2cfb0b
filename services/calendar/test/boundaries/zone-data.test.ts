import { sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
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
const BROKEN = sql<never, [id: string]>(`update events set timezone = 'Europe/Nowhere' where id = $1`)
const DUE = sql<{ due_at: Date; key: string }>('select due_at, key from timers')
const MARKS = sql<{ payload: { version: string; after: string | null } }>(
  "select payload from timers where kind = 'zone-data'",
)

let stack: BoundaryStack
beforeAll(async () => {
  stack = await BoundaryStack.create()
  await stack.process()
})
afterAll(() => stack.stop())

/** A process with some time zone data computes what is to be computed. */
async function apply(version: string): Promise<void> {
  const process = new BoundaryProcess(stack.options)
  const log = createLogger({ service: 'calendar-test', level: 'silent' })
  const zoneData = new ZoneData({ db: process.db, timers: process.timers, log, version })
  await process.timers.start()
  await zoneData.start()
  const isDone = async () => {
    const marks = await stack.db.query(MARKS)
    const due = (await stack.db.query(DUE)).find(({ key }) => key === 'present')?.due_at
    const [mark] = marks
    const isApplied = mark?.payload.version === version && mark.payload.after === null
    return marks.length === 1 && isApplied && due !== undefined && due > new Date()
  }
  await waitFor(isDone, { what: 'the end of the work' })
  await process.stop()
}

const START = new Date('2050-03-03T08:00:00Z')

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
  await apply('2050a')
  expect((await stack.load(single)).event).toMatchObject({ start_at: START, revision: 0 })
  expect((await stack.load(repeated)).event.start_at).toEqual(START)
  expect((await stack.load(repeated)).edits).toMatchObject([{ start_at: new Date('2050-03-08T08:00:00Z') }])
  expect((await stack.load(past)).event.start_at).toEqual(new Date('2020-03-03T09:00:00Z'))
  expect(await due(single.event.id)).toEqual(START)
  expect(await due(repeated.event.id)).toEqual(START)
  expect(await stack.told(single, repeated, past)).toEqual([])
  await stack.db.query(LATER, single.event.id)
  await apply('2050a')
  expect((await stack.load(single)).event.start_at).not.toEqual(START)
})

it('computes them anew for each change of the data, also back to an earlier one, and keeps one mark', async () => {
  const single = await stack.create(oneOff('2050-03-03T09:00:00', '2050-03-03T10:00:00'))
  for (const version of ['2051a', '2051b', '2051a']) {
    await stack.db.query(LATER, single.event.id)
    await apply(version)
    expect((await stack.load(single)).event.start_at).toEqual(START)
  }
})

it('leaves out an event that fails, and goes on with the others', async () => {
  const events = await Promise.all(
    Array.from({ length: 4 }, () => stack.create(oneOff('2050-03-03T09:00:00', '2050-03-03T10:00:00'))),
  )
  const [broken, ...others] = events.toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1))
  if (broken === undefined) throw new Error('no event')
  for (const { event } of events) await stack.db.query(LATER, event.id)
  await stack.db.query(BROKEN, broken.event.id)
  await apply('2052a')
  for (const other of others) expect((await stack.load(other)).event.start_at).toEqual(START)
  expect((await stack.load(broken)).event.start_at).not.toEqual(START)
})
