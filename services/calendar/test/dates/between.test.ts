import { processorMs } from '@restante/testkit'
import { dateAt, datesBetween, instantsOf, lastSlotOf } from '../../src/dates/index.ts'
import { answer, begun, cancelled, dates, edit, series, starts } from './states.ts'

const MARCH = ['2026-03-01T00:00:00Z', '2026-03-08T00:00:00Z'] as const

describe('the dates of a series', () => {
  it('keep their time of day when clocks are changed, and each its instant', () => {
    const shown = dates(
      series({ start: '2026-03-01T02:30:00', end: '2026-03-01T03:00:00' }),
      '2026-03-28',
      '2026-03-31',
    )
    expect(shown.map(({ slot, start_at, end_at }) => [slot, start_at.toISOString(), end_at.toISOString()])).toEqual([
      ['2026-03-28T02:30:00', '2026-03-28T01:30:00.000Z', '2026-03-28T02:00:00.000Z'],
      ['2026-03-29T02:30:00', '2026-03-29T01:30:00.000Z', '2026-03-29T02:00:00.000Z'],
      ['2026-03-30T02:30:00', '2026-03-30T00:30:00.000Z', '2026-03-30T01:00:00.000Z'],
    ])
  })

  it('lie in a window by their start, or also by their end', () => {
    const state = series({ start: '2026-03-02T09:00:00', end: '2026-03-02T11:00:00' })
    const within = (after: string, before: string, overlapping: boolean) =>
      dates(state, after, before, overlapping).map(({ slot }) => slot.slice(8, 10))
    expect(within('2026-03-03T09:00:00Z', '2026-03-05T08:00:00Z', true)).toEqual(['03', '04'])
    expect(within('2026-03-03T09:00:00Z', '2026-03-05T08:00:01Z', true)).toEqual(['03', '04', '05'])
    expect(within('2026-03-03T10:00:00Z', '2026-03-05T08:00:00Z', true)).toEqual(['04'])
    expect(within('2026-03-03T08:00:00Z', '2026-03-05T08:00:00Z', false)).toEqual(['03', '04'])
    expect(within('2026-03-03T08:00:01Z', '2026-03-05T08:00:00Z', false)).toEqual(['04'])
  })

  it('are ordered by instant also where clocks skip a time and dates overtake each other', () => {
    const state = series({
      start: '2026-03-28T02:45:00',
      end: '2026-03-28T02:50:00',
      rule: 'FREQ=MINUTELY;INTERVAL=15;COUNT=110',
    })
    const shown = dates(state, '2026-03-29T00:30:00Z', '2026-03-29T02:00:00Z')
    expect(shown.map(({ slot }) => slot.slice(11, 16))).toEqual([
      ...['01:30', '01:45', '02:00', '03:00', '02:15', '03:15', '02:30', '03:30', '02:45', '03:45'],
    ])
  })

  it('end with COUNT before dates are taken out, with the last second of UNTIL, and before the end of the series', () => {
    expect(starts(series({ rule: 'FREQ=DAILY;COUNT=3', exdates: ['2026-03-03T09:00:00'] }), ...MARCH)).toEqual([
      '2026-03-02T09:00:00',
      '2026-03-04T09:00:00',
    ])
    expect(starts(series({ rule: 'FREQ=DAILY;UNTIL=20260304T080000Z' }), ...MARCH)).toHaveLength(3)
    expect(starts(series({ rule: 'FREQ=DAILY;UNTIL=20260304T075959Z' }), ...MARCH)).toHaveLength(2)
    expect(starts(series({}, { truncate_before: '2026-03-04T09:00:00' }), ...MARCH)).toHaveLength(2)
    const days = { start: '2026-03-02', end: '2026-03-02' }
    expect(starts(series({ ...days, rule: 'FREQ=DAILY;UNTIL=20260304' }), ...MARCH)).toEqual([
      '2026-03-02',
      '2026-03-03',
      '2026-03-04',
    ])
  })

  it('have the dates that are added, each once and with a length of its own', () => {
    const state = series({
      rdates: [
        '2026-03-02T12:00:00',
        '2026-03-03T09:00:00',
        { start: '2026-03-04T15:00:00', duration: 'PT2H' },
        { start: '2026-03-04T16:00:00', end: '2026-03-05T16:00:00' },
        { start: '2026-03-05T09:00:00', duration: 'PT5H' },
      ],
      exdates: ['2026-03-02T12:00:00'],
    })
    expect(dates(state, '2026-03-02', '2026-03-06').map(({ start, end }) => `${start} ${end.slice(8)}`)).toEqual([
      '2026-03-02T09:00:00 02T09:30:00',
      '2026-03-03T09:00:00 03T09:30:00',
      '2026-03-04T09:00:00 04T09:30:00',
      '2026-03-04T15:00:00 04T17:00:00',
      '2026-03-04T16:00:00 05T16:00:00',
      '2026-03-05T09:00:00 05T09:30:00',
    ])
  })

  it('follow their own edit before the last one of all later dates before the series', () => {
    const state = {
      ...series(),
      edits: [
        edit('2026-03-05T09:00:00', 'future', { title: 'Later', duration_value: 7_200_000 }),
        edit('2026-03-03T09:00:00', 'future', { title: 'Soon', location: null, duration_value: 3_600_000 }),
        edit('2026-03-06T09:00:00', 'single', { title: 'Alone', start: '2026-03-06T08:00:00', status: 'cancelled' }),
      ],
    }
    const shown = dates(state, ...MARCH)
    expect(shown.map(({ title, location, start, end, status }) => [title, location, start, end, status])).toEqual([
      ['Standup', 'Room 1', '2026-03-02T09:00:00', '2026-03-02T09:30:00', 'confirmed'],
      ['Soon', null, '2026-03-03T09:00:00', '2026-03-03T10:00:00', 'confirmed'],
      ['Soon', null, '2026-03-04T09:00:00', '2026-03-04T10:00:00', 'confirmed'],
      ['Later', null, '2026-03-05T09:00:00', '2026-03-05T11:00:00', 'confirmed'],
      ['Alone', null, '2026-03-06T08:00:00', '2026-03-06T10:00:00', 'cancelled'],
      ['Later', null, '2026-03-07T09:00:00', '2026-03-07T11:00:00', 'confirmed'],
    ])
    expect(shown.map(({ is_exception }) => is_exception)).toEqual([false, true, true, true, true, true])
    expect(shown[4]?.future.map(({ slot }) => slot)).toEqual(['2026-03-03T09:00:00', '2026-03-05T09:00:00'])
  })

  it('that were moved alone are found where they lie now, and nowhere else', () => {
    const state = {
      ...series({ rule: 'FREQ=WEEKLY' }),
      edits: [
        edit('2026-03-09T09:00:00', 'single', { start: '2026-05-06T09:00:00' }),
        edit('2026-06-01T09:00:00', 'single', { start: '2026-03-03T09:00:00' }),
        edit('2026-03-10T09:00:00', 'single', { start: '2026-03-04T09:00:00' }),
      ],
    }
    expect(starts(state, '2026-03-01', '2026-03-17')).toEqual([
      '2026-03-02T09:00:00',
      '2026-03-03T09:00:00',
      '2026-03-16T09:00:00',
    ])
    expect(dates(state, '2026-05-05', '2026-05-07')).toMatchObject([
      { slot: '2026-03-09T09:00:00', original_start_at: new Date('2026-03-09T08:00:00Z'), is_exception: true },
    ])
    expect(dates(state, '2026-06-01', '2026-06-02')).toEqual([])
  })

  it('that have begun stay as they ran, whatever the series is now', () => {
    const ran = [
      begun('2026-03-02T14:00:00'),
      begun('2026-03-03T09:00:00', { start: '2026-03-03T11:00:00' }),
      begun('2026-03-01T08:00:00', { status: 'tentative' }),
    ]
    const state = { ...series({}, { title: 'New', history_before: '2026-03-04T09:00:00' }), begun: ran }
    expect(dates(state, '2026-03-01', '2026-03-06').map((each) => [each.start, each.status, each.title])).toEqual([
      ['2026-03-01T08:00:00', 'tentative', 'New'],
      ['2026-03-02T14:00:00', 'confirmed', 'New'],
      ['2026-03-03T11:00:00', 'confirmed', 'New'],
      ['2026-03-04T09:00:00', 'confirmed', 'New'],
      ['2026-03-05T09:00:00', 'confirmed', 'New'],
    ])
  })

  it('that were taken out while they ran are gone, and those that had ended before are not', () => {
    const ran = [begun('2026-03-03T09:00:00'), begun('2026-03-04T09:00:00')]
    const single = { ...series(), begun: ran, cancelled: [cancelled('2026-03-04T09:00:00', new Date())] }
    expect(dateAt(single, '2026-03-04T09:00:00')).toBeUndefined()
    const truncated_at = new Date('2026-03-04T08:10:00Z')
    const ended = { ...series({}, { truncate_before: '2026-03-03T09:00:00', truncated_at }), ...single, begun: ran }
    const event = { ...ended.event, truncate_before: '2026-03-03T09:00:00', truncated_at }
    expect(starts({ ...ended, event }, ...MARCH)).toEqual(['2026-03-02T09:00:00', '2026-03-03T09:00:00'])
    const moved = { ...event, truncate_before: '2026-03-04T11:00:00', history_before: '2026-03-04T11:00:00' }
    expect(starts({ ...ended, event: moved }, ...MARCH)).toEqual(['2026-03-03T09:00:00'])
  })

  it('are all cancelled with their series, whatever was edited before, unless they have begun', () => {
    const state = {
      ...series({ rule: 'FREQ=DAILY;COUNT=3' }, { status: 'cancelled' }),
      edits: [
        edit('2026-03-03T09:00:00', 'single', { status: 'tentative' }),
        edit('2026-03-04T09:00:00', 'future', { status: 'confirmed' }),
      ],
      begun: [begun('2026-03-02T09:00:00')],
    }
    expect(dates(state, ...MARCH).map(({ status }) => status)).toEqual(['confirmed', 'cancelled', 'cancelled'])
  })

  it('end with the year 9999: one that would be over later does not exist', () => {
    const night = series({
      start: '9999-12-29T23:30:00',
      end: '9999-12-30T00:30:00',
      timezone: 'America/New_York',
    })
    const last = ['9999-12-30T04:30:00.000Z', '9999-12-31T04:30:00.000Z']
    const found = dates(night, '9999-12-29T00:00:00Z', '+010001-01-01T00:00:00Z')
    expect(found.map(({ start_at }) => start_at.toISOString())).toEqual(last)
    expect(dateAt(night, '9999-12-31T23:30:00')).toBeUndefined()
    const beyond = instantsOf({ ...night.event, start: '9999-12-31T23:30:00' })
    expect(beyond.end_at.toISOString()).toBe('9999-12-31T23:59:59.000Z')
    const early = series({
      start: '9999-12-30T23:30:00',
      end: '9999-12-31T00:30:00',
      timezone: 'Asia/Tokyo',
    })
    expect(dates(early, '9999-12-29T00:00:00Z', '+010001-01-01T00:00:00Z').map(({ end }) => end)).toEqual([
      '9999-12-31T00:30:00',
    ])
  })

  it('of a rule with COUNT are found without counting where the last one is known', () => {
    const state = series({ rule: 'FREQ=DAILY;COUNT=9999', start: '2026-03-02T09:07:01', end: '2026-03-02T09:30:00' })
    const known = {
      ...state,
      event: { ...state.event, start: '2026-03-02T09:07:02', last_slot: '2026-03-04T09:07:02' },
    }
    expect(starts(known, ...MARCH)).toEqual(['2026-03-02T09:07:02', '2026-03-03T09:07:02', '2026-03-04T09:07:02'])
    expect(lastSlotOf(state.event)).toBe('2053-07-16T09:07:01')
    expect(lastSlotOf(series().event)).toBeNull()
  })

  it('show what was answered about them alone', () => {
    const attendees = [
      { email: 'a@example.com', status: 'accepted' as const, role: 'required' as const, comment: 'Yes' },
      { email: 'b@example.com', status: 'needs_action' as const, role: 'optional' as const },
    ]
    const responses = [answer('2026-03-03T09:00:00', 'a@example.com', null)]
    const state = { ...series({}, { attendees }), responses }
    expect(dateAt(state, '2026-03-02T09:00:00')?.attendees).toEqual(attendees)
    expect(dateAt(state, '2026-03-03T09:00:00')?.attendees).toEqual([
      { email: 'a@example.com', status: 'declined', role: 'required', responded_at: '2026-01-01T00:00:00.000Z' },
      attendees[1],
    ])
    expect(dateAt(state, '2026-03-03T09:00:00')?.is_exception).toBe(false)
  })

  it('of an endless series are found at once in the year 9998', () => {
    const state = series({ rule: 'FREQ=DAILY' })
    const costOf = (year: number) =>
      processorMs(() => expect(starts(state, `${year}-12-30T00:00:00Z`, `${year + 1}-01-01T00:00:00Z`)).toHaveLength(2))
    const near = costOf(2026)
    // A look at each of the three million dates before costs a thousand times as much.
    expect(costOf(9998)).toBeLessThan(200 * Math.max(1, near))
    const [last] = datesBetween(state, {
      after: new Date('9999-12-31T10:00:00Z'),
      before: new Date(8.64e15),
      includeOverlapping: true,
    })
    expect(last).toBeUndefined()
  })
})
