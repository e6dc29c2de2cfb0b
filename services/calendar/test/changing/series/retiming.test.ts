import { randomUUID } from 'node:crypto'
import { growthOf, MOST_GROWTH } from '@restante/testkit'
import { type Cause, changeEvent, editDate, newEvent, removeDate } from '../../../src/changing/transitions/index.ts'
import { dateAt, datesBetween } from '../../../src/dates/index.ts'
import type { BegunDateRow, EventState } from '../../../src/model/rows.ts'

const DAY = 86_400_000
const NOW = new Date('2030-03-11T12:00:00Z')

function cause(at = NOW): Cause {
  return { operationId: randomUUID(), at, address: 'me@restante.test' }
}

/** A series at nine from a day on, made at noon of the eleventh. */
function series(fields: { start: string; rule: string; exdates?: string[] }): EventState {
  const id = randomUUID()
  const given = {
    organization_id: id,
    pod_id: id,
    inbox_uid: id,
    take_overs: 0,
    source: 'api',
    organizer_email: null,
    title: 'Series',
    description: null,
    location: null,
    metadata: null,
    status: 'confirmed',
    attendees: [],
    all_day: fields.start.length === 10,
    timezone: 'UTC',
    duration_mode: 'nominal',
    duration_value: fields.start.length === 10 ? 1 : 3_600_000,
    exdates: [],
    rdates: [],
  } as const
  return newEvent({ ...given, ...fields }, cause())
}

const daily = () => series({ start: '2030-03-01T09:00:00', rule: 'FREQ=DAILY' })
const weekly = () => series({ start: '2030-02-18T09:00:00', rule: 'FREQ=WEEKLY' })

/** The days of a time around now on which an event has dates. */
function days(state: EventState, from = -40, to = 12): string[] {
  const [after, before] = [new Date(NOW.getTime() + from * DAY), new Date(NOW.getTime() + to * DAY)]
  return [...datesBetween(state, { after, before, includeOverlapping: true })].map(({ start }) => start.slice(5))
}

function began(state: EventState, slot: string, as: BegunDateRow['state']): EventState {
  const date = dateAt(state, slot)
  if (date === undefined) throw new Error(`There is no date at ${slot}`)
  const { all_day, start, timezone, duration_mode, duration_value, start_at, end_at, status } = date
  const { id: event_id, inbox_uid, organization_id } = state.event
  const schedule = { all_day, start, timezone, duration_mode, duration_value, start_at, end_at, status }
  const row = { event_id, slot, inbox_uid, organization_id, ...schedule, state: as, snapshot: null }
  return { ...state, begun: [...state.begun, row] }
}

describe('dates that are over', () => {
  it.each([
    ['another status', { status: 'tentative' as const }],
    ['another length', { duration_value: 7_200_000 }],
    ['another zone', { timezone: 'Europe/Berlin' }],
    ['another mode', { duration_mode: 'exact' as const }],
  ])('stay with all others when their series gets %s', (_, change) => {
    const before = daily()
    const after = changeEvent(before, change, cause())
    expect(days(after)).toEqual(days(before))
    expect(after.event.history_before).toBeNull()
    const past = dateAt(after, '2030-03-05T09:00:00')
    expect(past).toMatchObject({ status: 'confirmed', timezone: 'UTC', duration_value: 3_600_000 })
    expect(dateAt(after, '2030-03-15T09:00:00')).toMatchObject(change)
  })

  it.each([
    ['its start', { start: '2030-03-01T10:00:00' }, 'T10:00:00'],
    ['its rule', { rule: 'FREQ=DAILY;INTERVAL=2', exdates: [], rdates: [] }, 'T09:00:00'],
  ])('stay as they were when their series changes %s', (_, change, time) => {
    const after = changeEvent(daily(), change, cause())
    expect(days(after, -40, 0)).toEqual(days(daily(), -40, 0))
    expect(after.begun.map(({ state }) => state)).toEqual(Array.from({ length: 11 }, () => 'skipped'))
    expect(days(after, 0).every((start) => start.endsWith(time))).toBe(true)
  })

  it('leave the lists with another start when they ended longer ago than records are kept', () => {
    const before = series({ start: '2030-01-28T09:00:00', rule: 'FREQ=WEEKLY' })
    const after = changeEvent(before, { start: '2030-01-28T10:00:00' }, cause())
    expect(days(after, -60)[0]).toBe('02-11T09:00:00')
  })

  it('keep what was edited of them when their series moves', () => {
    const slot = '2030-03-05T09:00:00'
    const edited = editDate(daily(), { slot, mode: 'single', fields: { title: 'Minutes' } }, cause())
    const after = changeEvent(edited, { start: '2030-03-02T09:00:00' }, cause())
    expect(dateAt(after, slot)?.title).toBe('Minutes')
    expect(dateAt(after, '2030-03-06T09:00:00')?.title).toBe('Series')
  })
})

describe('a date that was moved away with its series', () => {
  // The next one is that of the eighteenth.
  const moved = () => changeEvent(weekly(), { start: '2030-02-25T09:00:00' }, cause())

  it.each([
    ['status', { status: 'tentative' as const }],
    ['length', { duration_value: 1_800_000 }],
    ['rule', { rule: 'FREQ=WEEKLY', exdates: ['2030-04-01T09:00:00'], rdates: [] }],
  ])('does not come back when the %s changes', (_, change) => {
    expect(days(moved(), 0, 16)).toEqual(['03-25T09:00:00'])
    expect(days(changeEvent(moved(), change, cause()), 0, 16)).toEqual(['03-25T09:00:00'])
  })

  it('does not come back when the series becomes one of whole days', () => {
    const whole = { all_day: true, duration_value: 1, rule: 'FREQ=WEEKLY', exdates: [], rdates: [] }
    const after = changeEvent(moved(), { ...whole, start: '2030-02-25' }, cause())
    expect(after.event.history_before).toBe('2030-03-25')
    expect(days(after, 1, 16)).toEqual(['03-25'])
  })
})

it('moves the end of a series with its start, and keeps it with a new rule in the form of its slots', () => {
  const { after } = removeDate(daily(), { slot: '2030-03-20T09:00:00', mode: 'future' }, cause())
  const rule = { rule: 'FREQ=DAILY', exdates: [], rdates: [] }
  const later = changeEvent(after, { start: '2030-03-02T09:00:00' }, cause())
  expect(later.event.truncate_before).toBe('2030-03-21T09:00:00')
  const ruled = changeEvent(after, { start: '2030-03-02T09:00:00', ...rule }, cause())
  expect(ruled.event.truncate_before).toBe('2030-03-20T09:00:00')
  const whole = changeEvent(after, { all_day: true, duration_value: 1, start: '2030-03-01', ...rule }, cause())
  expect(whole.event.truncate_before).toBe('2030-03-20')
})

describe('the first date of a series that becomes a one-off', () => {
  const first = '2030-03-01T09:00:00'
  const none = { rule: null, exdates: [], rdates: [] }

  it.each(['ended', 'skipped'] as const)('begins again when it %s and lies elsewhere', (as) => {
    const before = began(daily(), first, as)
    expect(changeEvent(before, { ...none, start: '2030-03-20T09:00:00' }, cause()).begun).toEqual([])
    expect(changeEvent(before, none, cause()).begun).toMatchObject([{ slot: '', state: as }])
  })
})

it('refuses to take out a date whose start is being recorded', () => {
  const at = new Date('2030-03-12T09:00:02Z')
  const slot = '2030-03-12T09:00:00'
  for (const mode of ['single', 'future'] as const) {
    expect(() => removeDate(daily(), { slot, mode }, cause(at))).toThrow(
      expect.objectContaining({ code: 'event_starting' }),
    )
  }
  const other = { slot: '2030-03-14T09:00:00', mode: 'single' } as const
  expect(removeDate(daily(), other, cause(at)).after.event.exdates).toEqual([other.slot])
})

it('changes one date of a series with many edits, and the series, in time proportional to them', () => {
  const exdates = Array.from({ length: 365 }, (_, day) => new Date(Date.UTC(2032, 5, day)).toISOString().slice(0, 19))
  const full = series({ start: '2030-04-01T09:00:00', rule: 'FREQ=DAILY', exdates })
  const slots = Array.from(
    { length: 720 },
    (_, day) => `${new Date(Date.UTC(2030, 3, 1 + day)).toISOString().slice(0, 10)}T09:00:00`,
  )
  const edit = editDate(full, { slot: slots[0] ?? '', mode: 'single', fields: { title: 'Edited' } }, cause()).edits[0]
  const edits = slots.flatMap((slot) => (edit ? [{ ...edit, slot, start_at: null, end_at: null }] : []))
  const stateOf = (count: number) => ({ ...full, edits: edits.slice(0, count) })
  const change = (state: EventState) => {
    const slot = '2031-12-01T09:00:00'
    const one = editDate(state, { slot, mode: 'single', fields: { title: 'Other' } }, cause())
    return changeEvent(one, { duration_value: 7_200_000 }, cause())
  }
  expect(growthOf(slots.length, stateOf, change)).toBeLessThan(MOST_GROWTH)
  const all = change(stateOf(slots.length))
  expect(all.edits.map(({ end_at, start_at }) => Number(end_at) - Number(start_at))).toEqual(slots.map(() => 7_200_000))
})
