import { firstSlotAfter, lastEndOf, nextBoundary, slotState, truncatedDateAt } from '../../src/dates/index.ts'
import { begun, cancelled, edit, oneOff, series } from './states.ts'

const at = (text: string) => new Date(text)

describe('the next boundary of an event', () => {
  const now = at('2026-03-03T00:00:00Z')
  const seen = { seen_until: now }

  it('is the start of the next date that is not cancelled', () => {
    expect(nextBoundary(series({}, seen), now)).toEqual(at('2026-03-03T08:00:00Z'))
    const edits = [edit('2026-03-03T09:00:00', 'single', { status: 'cancelled' })]
    expect(nextBoundary({ ...series({}, seen), edits }, now)).toEqual(at('2026-03-04T08:00:00Z'))
    expect(nextBoundary(series({}, { ...seen, status: 'cancelled' }), now)).toBeUndefined()
    expect(nextBoundary(series({ rule: 'FREQ=DAILY;COUNT=1' }, seen), now)).toBeUndefined()
    const confirmed = [edit('2026-03-05T09:00:00', 'single', { status: 'confirmed' })]
    const only = { ...series({}, { ...seen, status: 'cancelled' }), edits: confirmed }
    expect(nextBoundary(only, now)).toBeUndefined()
  })

  it('is the end of a date that runs, when that comes first', () => {
    const running = begun('2026-03-02T09:00:00', { state: 'running', end_at: at('2026-03-03T07:00:00Z') })
    expect(nextBoundary({ ...series({}, seen), begun: [running] }, now)).toEqual(at('2026-03-03T07:00:00Z'))
    const none = series({ rule: 'FREQ=DAILY;COUNT=1' }, seen)
    expect(nextBoundary({ ...none, begun: [running] }, now)).toEqual(at('2026-03-03T07:00:00Z'))
  })

  it('is now when a date has started and nobody was told', () => {
    const during = at('2026-03-03T08:10:00Z')
    expect(nextBoundary(series({}, seen), during)).toEqual(during)
    expect(nextBoundary({ ...series({}, seen), begun: [begun('2026-03-03T09:00:00')] }, during)).toEqual(
      at('2026-03-04T08:00:00Z'),
    )
  })

  it('of a one-off is its start, and none when it is cancelled or over', () => {
    const [start, end] = ['2026-03-03T09:00:00', '2026-03-03T10:00:00']
    expect(nextBoundary(oneOff(start, end, seen), now)).toEqual(at('2026-03-03T08:00:00Z'))
    expect(nextBoundary(oneOff(start, end, { ...seen, status: 'cancelled' }), now)).toBeUndefined()
    expect(nextBoundary(oneOff(start, end, { seen_until: at('2026-03-03T09:00:00Z') }), now)).toBeUndefined()
    const running = begun('', { start, state: 'running', end_at: at('2026-03-03T09:00:00Z') })
    expect(nextBoundary({ ...oneOff(start, end, seen), begun: [running] }, now)).toEqual(at('2026-03-03T09:00:00Z'))
  })

  it('is found again later when a thousand cancelled dates come first', () => {
    const edits = [
      edit('2026-03-02T09:00:00', 'future', { status: 'cancelled' }),
      edit('2036-03-02T09:00:00', 'future', { status: 'confirmed' }),
    ]
    const state = { ...series({}, seen), edits }
    const first = nextBoundary(state, now)
    expect(first?.getUTCFullYear()).toBe(2028)
    const later = { ...state, event: { ...state.event, seen_until: at('2036-03-01T00:00:00Z') } }
    expect(nextBoundary(later, now)).toEqual(at('2036-03-02T08:00:00Z'))
  })
})

describe('the last end of an event', () => {
  it('is not before that of any of its dates', () => {
    const isAfter = (state: Parameters<typeof lastEndOf>[0], text: string) => {
      const end = lastEndOf(state)
      expect(end?.getTime()).toBeGreaterThanOrEqual(at(text).getTime())
      expect(end?.getTime()).toBeLessThan(at(text).getTime() + 3 * 86_400_000)
    }
    expect(lastEndOf(oneOff('2026-03-03T09:00:00', '2026-03-03T10:00:00').event)).toEqual(at('2026-03-03T09:00:00Z'))
    expect(lastEndOf(series().event)).toBeNull()
    isAfter(series({ rule: 'FREQ=DAILY;COUNT=3' }).event, '2026-03-04T08:30:00Z')
    isAfter(series({ rule: 'FREQ=DAILY;UNTIL=20260304T090000Z' }).event, '2026-03-04T08:30:00Z')
    isAfter(series({}, { truncate_before: '2026-03-05T09:00:00' }).event, '2026-03-04T08:30:00Z')
    const edits = [edit('2026-03-02T09:00:00', 'future', { duration_value: 10 * 86_400_000 })]
    const longer = lastEndOf(series({ rule: 'FREQ=DAILY;COUNT=3' }).event, edits)
    expect(longer?.getTime()).toBeGreaterThanOrEqual(at('2026-03-14T08:00:00Z').getTime())
    expect(lastEndOf(series({ rule: 'FREQ=DAILY;UNTIL=99991231T000000Z' }).event)?.getUTCFullYear()).toBe(9999)
  })
})

describe('the first slot after an instant', () => {
  it('is that of the first date that starts originally after it', () => {
    expect(firstSlotAfter(series().event, at('2026-03-03T07:59:59Z'))).toBe('2026-03-03T09:00:00')
    expect(firstSlotAfter(series().event, at('2026-03-03T08:00:00Z'))).toBe('2026-03-04T09:00:00')
    expect(firstSlotAfter(series().event, at('2020-01-01T00:00:00Z'))).toBe('2026-03-02T09:00:00')
    expect(firstSlotAfter(series({ rule: 'FREQ=DAILY;COUNT=1' }).event, at('2026-03-03T08:00:00Z'))).toBeUndefined()
  })
})

describe('the slot of an id', () => {
  const now = at('2026-05-01T00:00:00Z')
  const truncated = (truncated_at: Date) => series({}, { truncate_before: '2026-04-25T09:00:00', truncated_at })

  it.each([
    ['live', series(), '2026-05-10T09:00:00'],
    ['live', series(), '2026-04-10T09:00:00'],
    ['expired', series(), '2026-03-10T09:00:00'],
    ['none', series(), '2026-05-10T09:00:01'],
    ['none', series(), '2026-05-10'],
    ['none', series(), ''],
    ['none', series({ exdates: ['2026-05-10T09:00:00'] }), '2026-05-10T09:00:00'],
    [
      'removed',
      {
        ...series({ exdates: ['2026-05-10T09:00:00'] }),
        cancelled: [cancelled('2026-05-10T09:00:00', at('2026-04-20'))],
      },
      '2026-05-10T09:00:00',
    ],
    [
      'expired',
      {
        ...series({ exdates: ['2026-05-10T09:00:00'] }),
        cancelled: [cancelled('2026-05-10T09:00:00', at('2026-03-20'))],
      },
      '2026-05-10T09:00:00',
    ],
    ['removed', truncated(at('2026-04-20')), '2026-04-26T09:00:00'],
    ['expired', truncated(at('2026-03-20')), '2026-04-26T09:00:00'],
    ['none', truncated(at('2026-04-20')), '2026-04-26T09:00:01'],
    ['live', truncated(at('2026-04-20')), '2026-04-24T09:00:00'],
    ['live', { ...series(), begun: [begun('2026-04-20T07:00:00')] }, '2026-04-20T07:00:00'],
    ['expired', { ...series(), begun: [begun('2026-03-20T07:00:00')] }, '2026-03-20T07:00:00'],
    ['none', series({}, { history_before: '2026-04-28T09:00:00' }), '2026-04-20T09:00:00'],
    ['expired', series({}, { history_before: '2026-04-28T09:00:00' }), '2026-03-20T09:00:00'],
    ['live', oneOff('2026-05-03T09:00:00', '2026-05-03T10:00:00'), ''],
    ['none', oneOff('2026-05-03T09:00:00', '2026-05-03T10:00:00'), '2026-05-03T09:00:00'],
  ] as const)('is %s', (expected, state, slot) => {
    expect(slotState(state, slot, now)).toBe(expected)
  })

  it('is live again when a new rule makes it again', () => {
    const state = { ...series(), cancelled: [cancelled('2026-05-10T09:00:00', at('2026-04-20'))] }
    expect(slotState(state, '2026-05-10T09:00:00', now)).toBe('live')
  })

  it('after the end of a series leads to the date as it would have been', () => {
    const state = truncated(at('2026-04-20'))
    expect(truncatedDateAt(state, '2026-04-26T09:00:00')?.start).toBe('2026-04-26T09:00:00')
    expect(truncatedDateAt(state, '2026-04-24T09:00:00')).toBeUndefined()
  })
})
