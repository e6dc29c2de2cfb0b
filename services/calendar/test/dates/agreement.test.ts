import { type CalendarDate, dateAt, datesBetween } from '../../src/dates/index.ts'
import type { EditRow, EventState } from '../../src/model/rows.ts'
import { begun, edit, series } from './states.ts'

const FIRST = Date.UTC(2026, 1, 20)
const LAST = Date.UTC(2026, 4, 1)
const MINUTE = 60_000

/** Numbers that are the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const RULES = [
  'FREQ=DAILY',
  'FREQ=DAILY;INTERVAL=3',
  'FREQ=WEEKLY;BYDAY=MO,TU,SU',
  'FREQ=HOURLY;INTERVAL=5',
  'FREQ=DAILY;COUNT=30',
  'FREQ=DAILY;UNTIL=20260401T010000Z',
  'FREQ=MINUTELY;INTERVAL=45;COUNT=90',
  'FREQ=MONTHLY;BYMONTHDAY=2,-1',
]
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'UTC']

/** Any wall time of the weeks of the test. */
function someTime(random: (below: number) => number): string {
  return new Date(FIRST + random((LAST - FIRST) / MINUTE / 15) * 15 * MINUTE).toISOString().slice(0, 19)
}

function someState(random: (below: number) => number): EventState {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const start = `2026-03-02T${pick(['00:30', '02:00', '02:30', '09:00', '23:45'])}:00`
  const end = new Date(Date.parse(`${start}Z`) + (15 + random(2_000)) * MINUTE).toISOString().slice(0, 19)
  const given = {
    start,
    end,
    rule: pick(RULES),
    timezone: pick(ZONES),
    duration_mode: pick(['exact', 'nominal'] as const),
  }
  const bare = series({ ...given, rule: given.rule })
  const slots = [...datesBetween(bare, windowOf(FIRST, LAST))].map(({ slot }) => slot)
  const rdates = [someTime(random), { start: someTime(random), duration: 'P1DT2H' }].filter(
    (each) => (typeof each === 'string' ? each : each.start) >= start,
  )
  const state = series({ ...given, rdates, exdates: [pick(slots), pick(slots)] })
  const edits = new Map<string, EditRow>()
  for (let index = random(6); index > 0; index--) {
    const slot = pick(slots)
    const length = { duration_value: (15 + random(3_000)) * MINUTE }
    const row =
      random(3) === 0
        ? edit(slot, 'future', length)
        : edit(slot, 'single', random(2) === 0 ? { start: someTime(random) } : length)
    edits.set(slot, row)
  }
  const truncate_before = random(4) === 0 ? pick(slots) : null
  const history_before = random(4) === 0 ? pick(slots) : null
  const ran = random(2) === 0 ? [begun(pick(slots), { start: someTime(random), timezone: given.timezone })] : []
  return {
    ...state,
    event: { ...state.event, truncate_before, history_before },
    edits: [...edits.values()],
    begun: ran,
  }
}

function windowOf(after: number, before: number, includeOverlapping = true) {
  return { after: new Date(after), before: new Date(before), includeOverlapping }
}

const key = ({ slot, start_at, end_at }: CalendarDate) => `${start_at.toISOString()} ${slot} ${end_at.toISOString()}`

describe('the dates in a window', () => {
  it.each(Array.from({ length: 25 }, (_, seed) => seed))(
    'are those that every single slot says, in order and each once (%i)',
    (seed) => {
      const random = randomNumbers(seed * 7_919 + 1)
      const state = someState(random)
      // Every quarter of an hour could be a slot.
      const all: CalendarDate[] = []
      for (let at = FIRST; at < LAST; at += 15 * MINUTE) {
        const date = dateAt(state, new Date(at).toISOString().slice(0, 19))
        if (date) all.push(date)
      }
      for (let round = 0; round < 10; round++) {
        const after = Date.UTC(2026, 2, 1) + random(40 * 24 * 60) * MINUTE
        const before = after + (1 + random(15 * 24 * 60)) * MINUTE
        const overlapping = random(2) === 0
        const expected = all
          .filter(({ start_at, end_at }) => {
            const isIn = overlapping ? end_at.getTime() > after : start_at.getTime() >= after
            return isIn && start_at.getTime() < before
          })
          .map(key)
          .toSorted()
        expect([...datesBetween(state, windowOf(after, before, overlapping))].map(key)).toEqual(expected)
      }
      expect(new Set(all.map(({ slot }) => slot)).size).toBe(all.length)
    },
  )
})
