import { endOf, instantsOf, readSchedule, shiftSlot } from '../../src/dates/index.ts'
import { refusal } from './states.ts'

const read = (start: string, end: string, more: Partial<Parameters<typeof readSchedule>[0]> = {}) =>
  readSchedule({ start, end, all_day: !start.includes('T'), timezone: 'Europe/Berlin', series: false, ...more })

const shown = (...given: Parameters<typeof read>) => {
  const schedule = read(...given)
  const { start_at, end_at } = instantsOf(schedule)
  return [
    schedule.duration_mode,
    schedule.duration_value,
    start_at.toISOString(),
    end_at.toISOString(),
    endOf(schedule),
  ]
}

describe('a schedule', () => {
  it('of a one-off has an exact length, that of a series one on the clock', () => {
    expect(read('2026-10-07T09:00:00', '2026-10-07T10:00:00').duration_mode).toBe('exact')
    expect(read('2026-10-07T09:00:00', '2026-10-07T10:00:00', { series: true }).duration_mode).toBe('nominal')
    expect(read('2026-10-07', '2026-10-07').duration_mode).toBe('nominal')
  })

  it('of whole days ends at the midnight after the last one', () => {
    expect(shown('2026-11-02', '2026-11-04', { timezone: 'Europe/London' })).toEqual([
      'nominal',
      3,
      '2026-11-02T00:00:00.000Z',
      '2026-11-05T00:00:00.000Z',
      '2026-11-04',
    ])
  })

  it.each([
    // The night in which clocks skip an hour has seven hours where it shows eight.
    ['exact', 7 * 3_600_000, '2026-03-29T05:00:00.000Z', '2026-03-29T07:00:00'],
    ['nominal', 8 * 3_600_000, '2026-03-29T05:00:00.000Z', '2026-03-29T07:00:00'],
  ] as const)('over a change of the clocks is as long as its mode says: %s', (mode, value, end, wall) => {
    expect(shown('2026-03-28T23:00:00', '2026-03-29T07:00:00', { duration_mode: mode })).toEqual([
      mode,
      value,
      '2026-03-28T22:00:00.000Z',
      end,
      wall,
    ])
  })

  it('whose start is skipped starts later, and never ends before it starts', () => {
    expect(shown('2026-03-29T02:30:00', '2026-03-29T03:00:00', { duration_mode: 'nominal' })).toEqual([
      'nominal',
      1_800_000,
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:00:00.000Z',
      '2026-03-29T03:00:00',
    ])
    expect(shown('2026-03-29T02:30:00', '2026-03-29T03:00:00', { duration_mode: 'exact' })).toEqual([
      'exact',
      1_800_000,
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:00:00.000Z',
      '2026-03-29T04:00:00',
    ])
  })

  it('of a day that a zone skipped has its length nevertheless', () => {
    expect(shown('2011-12-30', '2011-12-30', { timezone: 'Pacific/Apia' }).slice(2, 4)).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ])
  })

  it('of a midnight that is skipped begins when the day does', () => {
    expect(shown('2026-04-24', '2026-04-24', { timezone: 'Africa/Cairo' }).slice(2, 4)).toEqual([
      '2026-04-23T22:00:00.000Z',
      '2026-04-24T21:00:00.000Z',
    ])
  })

  it.each([
    ['2026-10-07T09:00:00', '2026-10-07T09:00:00', {}, 'end: Must be after `start`'],
    ['2026-10-07', '2026-10-06', {}, 'end: Must not be before `start`'],
    ['2026-10-07T09:00:00Z', '2026-10-07T10:00:00', {}, 'start: Must be a local time'],
    ['2026-02-30T09:00:00', '2026-10-07T10:00:00', {}, 'start: Must be a local time'],
    ['2026-10-07T09:00:60', '2026-10-07T10:00:00', {}, 'start: Must be a local time'],
    ['2026-10-07T09:00:00', '2026-10-07', {}, 'end: Must be a local time'],
    ['2026-10-07', '2026-10-07T10:00:00', {}, 'end: Must be a day'],
    ['1899-12-31', '1900-01-01', {}, 'start: Must be in the years 1900 to 9999'],
    ['9999-12-31', '9999-12-31', { timezone: 'America/New_York' }, 'end: Must be in the years 1900 to 9999'],
    ['2026-10-07', '2026-10-07', { duration_mode: 'exact' }, 'duration_mode: Must be nominal'],
    ['2026-10-07', '2026-10-07', { timezone: 'europe/berlin' }, 'timezone: Must be a name of the IANA'],
    ['2026-10-07', '2026-10-07', { timezone: '+01:00' }, 'timezone: Must be a name of the IANA'],
    ['2026-01-01', '2027-01-01', {}, 'accepted'],
    ['2026-01-01', '2027-01-02', {}, 'end: Must be at most 366 days'],
    ['2026-01-01', '2026-01-31', { series: true }, 'accepted'],
    ['2026-01-01', '2026-02-01', { series: true }, 'end: Must be at most 31 days'],
    ['2026-01-01T00:00:00', '2026-02-01T00:00:00', { series: true }, 'accepted'],
    ['2026-01-01T00:00:00', '2026-02-01T00:00:01', { series: true }, 'end: Must be at most 31 days'],
  ] as const)('from %s to %s, %j is told: %4$s', (start, end, more, expected) => {
    expect(refusal(() => read(start, end, more))).toContain(expected)
  })
})

describe('a slot', () => {
  it.each([
    ['2026-01-05T09:00:00', '2026-01-01T09:00:00', '2026-01-01T10:30:00', '2026-01-05T10:30:00'],
    ['2026-01-05T23:30:00', '2026-01-01T09:00:00', '2026-01-01T10:30:00', '2026-01-06T01:00:00'],
    ['2026-01-05', '2026-01-01', '2025-12-31', '2026-01-04'],
    ['2026-01-05T09:00:00', '2026-01-01T09:00:00', '2026-01-02', '2026-01-06'],
    ['2026-01-05', '2026-01-01', '2026-01-02T08:15:00', '2026-01-06T08:15:00'],
  ])('%s moves with its series from %s to %s: %s', (slot, from, to, expected) => {
    expect(shiftSlot(slot, from, to)).toBe(expected)
  })
})
