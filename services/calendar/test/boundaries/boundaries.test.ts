import { hashedUuid, sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { dateAt } from '../../src/dates/index.ts'
import { datedId } from '../../src/model/dated-id.ts'
import { edit, series } from '../dates/states.ts'
import { BoundaryStack } from './boundary-stack.ts'
import { MINUTE, SECOND, types, utc, wall } from './moments.ts'

let stack: BoundaryStack
beforeAll(async () => {
  stack = await BoundaryStack.create()
  await stack.process()
})
afterAll(() => stack.stop())

it('tells when a one-off event starts and ends, never early', async () => {
  const [start, end] = [wall(SECOND), wall(2 * SECOND)]
  const state = await stack.create(utc(start, end, { metadata: { a: 1 }, seen_until: new Date() }))
  const told = await stack.toldOf(state, 2)
  const { id } = state.event
  expect(types(told)).toEqual(['starting', 'ending'])
  expect(told.map(({ event_id }) => event_id)).toEqual([`${id}_single.start`, `${id}_single.end`])
  expect(told.map((each) => each.id)).toEqual(told.map(({ event_id }) => hashedUuid(event_id)))
  expect(told.map(({ scheduled_at }) => scheduled_at)).toEqual([`${start}Z`, `${end}Z`])
  for (const { time, scheduled_at } of told) expect(time.getTime()).toBeGreaterThanOrEqual(Date.parse(scheduled_at))
  expect(told[0]?.calendar_event).toMatchObject({
    event_id: id,
    kind: 'single',
    metadata: { a: 1 },
    start_at: `${start}Z`,
  })
  expect(told[0]?.calendar_event).not.toHaveProperty('resource_revision')
  expect(told[0]?.calendar_event).not.toHaveProperty('etag')
  expect(told[0]?.inbox_id).toBe('agent@example.com')
})

it('tells of dates of a series by their ids, and waits for the next one', async () => {
  const start = wall(-10 * SECOND)
  const given = { start, end: wall(2 * MINUTE), timezone: 'UTC', rule: 'FREQ=DAILY' }
  const edits = [
    edit(wall(-9 * SECOND), 'future', { title: 'Later', description: 'Not of today' }),
    edit(start, 'single', { title: 'Today', description: 'Of today', duration_value: 30 * SECOND }),
  ]
  const state = await stack.create({ ...series(given, { seen_until: new Date(Date.now() - MINUTE) }), edits })
  const [told] = await stack.toldOf(state, 1)
  expect(told?.event_id).toBe(`${datedId(state.event.id, start)}.start`)
  const described = { title: 'Today', description: 'Of today', is_exception: true }
  expect(told?.calendar_event).toMatchObject({ kind: 'instance', ...described, original_start: start })
  expect((await stack.load(state)).begun).toMatchObject([{ slot: start, state: 'running' }])
})

it('tells at once of an event that was made while it runs, and not at all of one that is over', async () => {
  const running = await stack.create(utc(wall(-MINUTE), wall(MINUTE), { seen_until: new Date() }))
  const over = await stack.create(utc(wall(-2 * MINUTE), wall(-MINUTE), { seen_until: new Date() }))
  expect(types(await stack.toldOf(running, 1))).toEqual(['starting'])
  expect(await stack.told(over)).toEqual([])
})

describe('an event that changes', () => {
  it('is told of at its new time', async () => {
    const state = await stack.create(utc(wall(MINUTE), wall(2 * MINUTE), { seen_until: new Date() }))
    const [start, end] = [wall(0), wall(MINUTE)]
    await stack.change(state, (stored) => ({
      ...stored,
      event: {
        ...utc(start, end, { seen_until: new Date() }).event,
        id: stored.event.id,
        inbox_uid: stored.event.inbox_uid,
      },
    }))
    const [told] = await stack.toldOf(state, 1)
    expect(told?.scheduled_at).toBe(`${start}Z`)
  })

  it('while it runs ends at its new end, and shows the rest as it began', async () => {
    const state = await stack.create(utc(wall(-MINUTE), wall(30 * MINUTE), { seen_until: new Date() }))
    await stack.toldOf(state, 1)
    const end = wall(SECOND)
    await stack.change(state, (stored) => {
      const length = Date.parse(`${end}Z`) - stored.event.start_at.getTime()
      const moved = { duration_value: length, end_at: new Date(`${end}Z`) }
      return {
        ...stored,
        event: { ...stored.event, ...moved, title: 'Another title', seen_until: new Date() },
        begun: stored.begun.map((row) => ({ ...row, ...moved })),
      }
    })
    const [starting, ending] = await stack.toldOf(state, 2)
    expect(ending).toMatchObject({ event_type: 'calendar.event.ending', scheduled_at: `${end}Z` })
    expect(ending?.calendar_event).toEqual({
      ...starting?.calendar_event,
      end,
      end_at: `${end}Z`,
      duration_value: ending?.calendar_event.duration_value,
    })
    expect(dateAt(await stack.load(state), '')?.begun?.state).toBe('ended')
  })

  it('is told of only when it is not cancelled', async () => {
    const state = await stack.create(utc(wall(0), wall(MINUTE), { status: 'cancelled', seen_until: new Date() }))
    const other = await stack.create(utc(wall(0), wall(MINUTE), { seen_until: new Date() }))
    await stack.toldOf(other, 1)
    expect(await stack.told(state)).toEqual([])
  })
})

it('tells nothing to an organization without calendars', async () => {
  const access = sql<never, [organizationId: string]>(
    'insert into calendar_access (organization_id, access, version) values ($1, false, 1)',
  )
  const organization_id = '9d1c7a52-0f7b-4c80-9a53-1b2c3d4e5f60'
  await stack.db.query(access, organization_id)
  const state = await stack.create(utc(wall(-SECOND), wall(MINUTE), { organization_id, seen_until: new Date(0) }))
  await waitFor(async () => (await stack.load(state)).begun.length > 0, { what: 'a record of the event' })
  expect((await stack.load(state)).begun).toMatchObject([{ state: 'skipped' }])
  expect(await stack.told(state)).toEqual([])
})
