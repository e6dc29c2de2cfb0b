import { waitFor } from '@restante/testkit'
import { begun } from '../dates/states.ts'
import { BoundaryStack } from './boundary-stack.ts'
import { MINUTE, types, utc, wall } from './moments.ts'

let stack: BoundaryStack
beforeAll(async () => {
  stack = await BoundaryStack.create()
})
afterAll(() => stack.stop())

describe('after ten minutes in which no process told', () => {
  const down = new Date(Date.now() - 10 * MINUTE)

  it('what started within five minutes or still runs is told, and the rest left out', async () => {
    const given = (start: number, end: number) =>
      stack.create(utc(wall(start * MINUTE), wall(end * MINUTE), { seen_until: down }), down)
    const short = await given(-4, -3)
    const started = await given(-4, 5)
    const long = await given(-9, 5)
    const missed = await given(-9, -8)
    const justMissed = await given(-6, -1)
    await stack.process()
    expect(types(await stack.toldOf(short, 2))).toEqual(['starting', 'ending'])
    expect(types(await stack.toldOf(started, 1))).toEqual(['starting'])
    expect(types(await stack.toldOf(long, 1))).toEqual(['starting'])
    for (const state of [missed, justMissed]) {
      await waitFor(async () => (await stack.load(state)).begun.length > 0, { what: 'a record of the missed event' })
      expect((await stack.load(state)).begun).toMatchObject([{ state: 'skipped', snapshot: null }])
      expect(await stack.told(state)).toEqual([])
    }
  })

  it('the end of what had been told to start is told late', async () => {
    const start = wall(-50 * MINUTE)
    const event = utc(start, wall(-9 * MINUTE), { seen_until: down })
    const told = { ...begun('', { start, timezone: 'UTC', state: 'running' }), end_at: event.event.end_at }
    const snapshot = {
      event_id: 'any',
      kind: 'single',
      title: 'As it began',
      status: 'confirmed',
      all_day: false,
      start,
    }
    const rest = { timezone: 'UTC', start_at: `${start}Z`, attendee_count: 0, uid: 'any', sequence: 0, source: 'api' }
    const times = { created_at: new Date().toISOString(), updated_at: new Date().toISOString() }
    const state = await stack.create(
      { ...event, begun: [{ ...told, snapshot: { ...snapshot, ...rest, ...times } }] },
      down,
    )
    await stack.process()
    const [ending] = await stack.toldOf(state, 1)
    expect(ending).toMatchObject({ event_type: 'calendar.event.ending', calendar_event: { title: 'As it began' } })
  })
})
