import { randomUUID } from 'node:crypto'
import { ApiError } from '@restante/service/errors'
import { byLength } from '@restante/testkit'
import {
  type Cause,
  changeEvent,
  editDate,
  effectOf,
  effectOfEdit,
  newEvent,
  removeDate,
} from '../../../src/changing/transitions/index.ts'
import { dateAt, datesBetween, slotState } from '../../../src/dates/index.ts'
import { etagOfDate, etagOfEvent } from '../../../src/documents/index.ts'
import type { EditedFields, EventState } from '../../../src/model/rows.ts'

const SEQUENCES = byLength({ short: 15, long: 40 })
const STEPS = 14
const NOW = new Date('2029-12-01T00:00:00Z')
/** When some dates are over. */
const LATER = new Date('2030-01-21T00:00:00Z')
const WINDOW = {
  after: new Date('2030-01-01T00:00:00Z'),
  before: new Date('2030-03-15T00:00:00Z'),
  includeOverlapping: true,
}
const TITLES = ['Alpha', 'Beta', 'Gamma', 'Delta']
const RULES = ['FREQ=DAILY', 'FREQ=DAILY;INTERVAL=2', 'FREQ=WEEKLY;BYDAY=MO,TH', 'FREQ=DAILY;COUNT=40']

/** Numbers that are the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

type Random = ReturnType<typeof randomOf>

let now = NOW
beforeEach(() => {
  now = NOW
})

function cause(): Cause {
  return { operationId: randomUUID(), at: now, address: 'me@restante.test' }
}

function series(random: Random): EventState {
  const id = randomUUID()
  return newEvent(
    {
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
      all_day: false,
      start: '2030-01-07T09:00:00',
      timezone: ['UTC', 'Europe/Berlin', 'America/New_York'][random(3)] ?? 'UTC',
      duration_mode: 'nominal',
      duration_value: 1_800_000,
      rule: RULES[random(RULES.length)] ?? 'FREQ=DAILY',
      exdates: [],
      rdates: random(3) === 0 ? ['2030-01-08T15:30:00'] : [],
    },
    cause(),
  )
}

function agenda(state: EventState) {
  return [...datesBetween(state, WINDOW)]
}

function someSlot(state: EventState, random: Random): string | undefined {
  const dates = agenda(state)
    .filter(({ start_at }) => start_at > now)
    .slice(0, 30)
  return dates[random(Math.max(dates.length, 1))]?.slot
}

interface Step {
  readonly after: EventState
  readonly effect: 'none' | 'descriptive' | 'times'
}

/** One change of a kind and with values that the seed decides. */
function step(state: EventState, random: Random): Step {
  const title = TITLES[random(TITLES.length)] ?? ''
  const slot = someSlot(state, random)
  const kind = slot === undefined ? 0 : random(7)
  if (kind === 0 || slot === undefined) return changed(state, { title })
  if (kind === 1) return changed(state, { start: `2030-01-07T${String(8 + random(6)).padStart(2, '0')}:00:00` })
  if (kind === 2) return changed(state, { rule: RULES[random(RULES.length)] ?? '', exdates: [], rdates: [] })
  if (kind === 3) return edited(state, slot, 'future', random(2) === 0 ? { title } : { duration_value: 3_600_000 })
  if (kind === 4) {
    const removal = { slot, mode: random(4) === 0 ? ('future' as const) : ('single' as const) }
    return { after: removeDate(state, removal, cause()).after, effect: 'times' }
  }
  const moved = { start: `${slot.slice(0, 10)}T${String(10 + random(9)).padStart(2, '0')}:15:00` }
  const fields: EditedFields =
    [moved, { title }, { status: random(2) ? 'cancelled' : 'confirmed' } as const][random(3)] ?? {}
  return edited(state, slot, 'single', fields)
}

function changed(state: EventState, change: Parameters<typeof changeEvent>[1]): Step {
  const effect = effectOf(state.event, change)
  return { effect, after: effect === 'none' ? state : changeEvent(state, change, cause()) }
}

function edited(state: EventState, slot: string, mode: 'single' | 'future', fields: EditedFields): Step {
  const date = dateAt(state, slot)
  const effect = date ? effectOfEdit(date, fields) : 'none'
  return { effect, after: effect === 'none' ? state : editDate(state, { slot, mode, fields }, cause()) }
}

function expectInvariants(state: EventState): void {
  const dates = agenda(state)
  const slots = dates.map(({ slot }) => slot)
  expect(new Set(slots).size).toBe(slots.length)
  for (const date of dates) {
    const single = state.edits.find((edit) => edit.mode === 'single' && edit.slot === date.slot)
    const future = state.edits.filter((edit) => edit.mode === 'future' && edit.slot <= date.slot)
    const latest = future
      .toSorted((a, b) => (a.slot < b.slot ? 1 : -1))
      .find(({ fields }) => fields.title !== undefined)
    expect(date.title).toBe(single?.fields.title ?? latest?.fields.title ?? state.event.title)
    expect(dateAt(state, date.slot)).toEqual(date)
    expect(slotState(state, date.slot, now)).toBe('live')
  }
  for (const edit of state.edits) {
    if (edit.mode === 'future') continue
    const date = dateAt(state, edit.slot)
    expect([edit.start_at, edit.end_at]).toEqual([date?.start_at, date?.end_at])
  }
}

it('keeps every date once, with its id and the precedence of edits, through any sequence of changes', () => {
  for (let seed = 1; seed <= SEQUENCES; seed++) {
    const random = randomOf(seed)
    let state = series(random)
    for (let count = 0; count < STEPS; count++) {
      const next = attempt(state, random)
      if (next === undefined) continue
      const probe = agenda(state)[0]?.slot ?? '2030-01-07T09:00:00'
      const isSame = etagOfDate(state, probe) === etagOfDate(next.after, probe)
      expect(isSame).toBe(next.effect === 'none')
      if (next.after.event === state.event) expect(etagOfEvent(next.after.event)).toBe(etagOfEvent(state.event))
      state = next.after
      expectInvariants(state)
    }
  }
})

it('keeps the dates that are over as they were, through any sequence of changes', () => {
  const over = (state: EventState) =>
    agenda(state)
      .filter(({ end_at }) => end_at <= now)
      .map(({ slot, start_at, end_at, status }) => ({ slot, start_at, end_at, status }))
  for (let seed = 1; seed <= SEQUENCES; seed++) {
    now = NOW
    const random = randomOf(seed)
    let state = series(random)
    now = LATER
    const before = over(state)
    expect(before).not.toEqual([])
    for (let count = 0; count < STEPS; count++) {
      state = attempt(state, random)?.after ?? state
      expect(over(state)).toEqual(before)
    }
  }
})

/** @returns undefined for a change that a rule refuses. */
function attempt(state: EventState, random: Random): Step | undefined {
  try {
    return step(state, random)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

it('is as before when a single edit is undone with the values of the series', () => {
  const state = series(randomOf(7))
  const [, second] = agenda(state)
  const slot = second?.slot ?? ''
  const there = editDate(state, { slot, mode: 'single', fields: { title: 'Else', status: 'cancelled' } }, cause())
  const back = editDate(there, { slot, mode: 'single', fields: { title: 'Series', status: 'confirmed' } }, cause())
  const shown = (of: EventState) =>
    agenda(of).map(({ title, status, start_at, end_at }) => ({ title, status, start_at, end_at }))
  expect(shown(back)).toEqual(shown(state))
})
