import { Expansion, expand, failingPart, formatWallTime, parseRule, WEEKDAYS } from '../src/index.ts'
import { at, first, take } from './support.ts'

const rule = (text: string) => parseRule(text, { allDay: false })

describe('a rule', () => {
  it.each([
    [
      'FREQ=DAILY;COUNT=3',
      '2026-12-30T09:00:00',
      ['2026-12-30T09:00:00', '2026-12-31T09:00:00', '2027-01-01T09:00:00'],
    ],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-31T09:00:00', ['2026-01-31T09:00:00', '2026-03-31T09:00:00']],
    ['FREQ=MONTHLY;BYDAY=-1FR', '2026-01-30T17:00:00', ['2026-01-30T17:00:00', '2026-02-27T17:00:00']],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2024-02-29T00:00:00', ['2024-02-29T00:00:00', '2028-02-29T00:00:00']],
    [
      'FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,SU',
      '1997-08-05T09:00:00',
      ['1997-08-05T09:00:00', '1997-08-17T09:00:00'],
    ],
    [
      'FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=TU,SU',
      '1997-08-05T09:00:00',
      ['1997-08-05T09:00:00', '1997-08-10T09:00:00'],
    ],
    ['FREQ=MINUTELY;INTERVAL=90', '2026-01-01T23:00:00', ['2026-01-01T23:00:00', '2026-01-02T00:30:00']],
    [
      'FREQ=SECONDLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
      '2026-01-01T09:00:00',
      ['2026-01-01T09:00:00', '2026-01-02T09:00:00'],
    ],
  ])('%s from %s', (text, start, expected) => {
    expect(first(expected.length, text, start)).toEqual(expected)
  })

  it('counts its dates from the start, also those before what is asked for', () => {
    const from = at('2026-01-04T09:00:00')
    expect([...expand(rule('FREQ=DAILY;COUNT=5'), at('2026-01-01T09:00:00'), { from })].map(formatWallTime)).toEqual([
      '2026-01-04T09:00:00',
      '2026-01-05T09:00:00',
    ])
  })

  it('ends where its UNTIL lies by the zone of the event', () => {
    const end = at('2026-01-02T09:00:00')
    const dates = expand(rule('FREQ=DAILY;UNTIL=20260102T080000Z'), at('2026-01-01T09:00:00'), {
      isAfterEnd: (time) => time > end,
    })
    expect([...dates].map(formatWallTime)).toEqual(['2026-01-01T09:00:00', '2026-01-02T09:00:00'])
  })

  it.each(['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'])(
    'that repeats %s has the same dates from any time on',
    (frequency) => {
      for (const interval of [1, 3, 7]) {
        const start = at('2024-01-31T22:59:58')
        const given = rule(`FREQ=${frequency};INTERVAL=${interval}`)
        const all = take(100, expand(given, start))
        const from = (all[59] ?? 0) + 1
        expect(take(40, expand(given, start, { from }))).toEqual(all.slice(60))
      }
    },
  )

  it('of times long ago is looked at from the time that is asked for', () => {
    const from = at('2026-01-01T00:00:00')
    const dates = expand(rule('FREQ=SECONDLY'), at('1900-01-01T00:00:00'), { from })
    expect(dates.next().value).toBe(from)
  })

  it.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7',
    'FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=MO;BYSETPOS=2',
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=WEEKLY;BYSETPOS=2;BYDAY=MO',
  ])('that never matches ends: %s', (text) => {
    expect([...expand(rule(text), at('2026-01-01T00:00:00'))]).toEqual([])
  })

  it('of every second finds a time of the last day of a year nearly as fast as one of the first', () => {
    const all = (length: number) => Array.from({ length }, (_, value) => value).join(',')
    const text = `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)}`
    const processorTime = (start: number, from: number) => {
      const before = process.cpuUsage()
      // One time alone is too short for the clock of the processor.
      for (let repeated = 0; repeated < 200; repeated++) {
        expect(failingPart(rule(text), start)).toBeUndefined()
        expect(expand(rule(text), start).next().value).toBe(start)
        expect(expand(rule(text), start, { from }).next().value).toBe(from)
      }
      return process.cpuUsage(before).user
    }
    const first = processorTime(at('2026-01-01T00:00:00'), at('2030-01-01T00:00:00'))
    const last = processorTime(at('2026-12-31T23:59:59'), at('2030-12-31T23:59:58'))
    // A look at each of the 31 million times before costs a hundred times as much.
    expect(last / first).toBeLessThan(20)
  })

  it('with UNTIL is not expanded without knowing where it ends', () => {
    expect(() => expand(rule('FREQ=DAILY;UNTIL=20260102T080000Z'), at('2026-01-01T09:00:00')).next()).toThrow(TypeError)
  })

  it('finds the days of December that belong to a week of the next year, counted from its end', () => {
    expect(first(4, 'FREQ=YEARLY;BYWEEKNO=-53;BYDAY=MO', '2019-12-30T09:00:00')).toEqual([
      '2019-12-30T09:00:00',
      '2025-12-29T09:00:00',
      '2031-12-29T09:00:00',
      '2036-12-29T09:00:00',
    ])
  })

  it('has the same dates wherever one begins to look, of weeks counted from either end of a year too', () => {
    for (const weekStart of WEEKDAYS) {
      for (const week of [1, 52, 53, -1, -52, -53]) {
        const text = `FREQ=YEARLY;WKST=${weekStart};BYWEEKNO=${week};BYDAY=MO,TU,WE,TH,FR,SA,SU`
        const start = take(1, expand(rule(text), at('2001-01-01T00:00:00')))[0] ?? 0
        const dates = take(800, expand(rule(text), start))
        for (let place = 1; place < dates.length; place += 97) {
          const from = dates[place] ?? 0
          const expected = dates.slice(place, place + 50)
          expect([text, ...take(expected.length, expand(rule(text), start, { from }))]).toEqual([text, ...expected])
        }
      }
    }
  })

  it('is found again after decades without a date', () => {
    expect(first(2, 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO', '2016-02-29T09:00:00')).toEqual([
      '2016-02-29T09:00:00',
      '2044-02-29T09:00:00',
    ])
    expect(first(2, 'FREQ=WEEKLY;BYMONTH=2;BYDAY=TU', '2026-02-24T09:00:00')).toEqual([
      '2026-02-24T09:00:00',
      '2027-02-02T09:00:00',
    ])
    expect(first(2, 'FREQ=HOURLY;INTERVAL=5;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO', '2016-02-29T00:00:00').length).toBe(2)
  })

  it('is looked at up to an end', () => {
    const [start, before] = [at('2026-01-01T09:00:00'), at('2026-01-03T09:00:00')]
    for (const text of ['FREQ=DAILY', 'FREQ=HOURLY;INTERVAL=24', 'FREQ=DAILY;COUNT=9']) {
      expect([...expand(rule(text), start, { before })].map(formatWallTime)).toEqual([
        '2026-01-01T09:00:00',
        '2026-01-02T09:00:00',
      ])
    }
    expect([...expand(rule('FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYDAY=TH'), start, { from: before, before })]).toEqual(
      [],
    )
  })

  it('of every second of a day, of which one is taken, holds no list of them', () => {
    const all = (count: number) => Array.from({ length: count }, (_, index) => index).join()
    const every = `BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)}`
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    const kept = Array.from(
      { length: 300 },
      () => new Expansion(rule(`FREQ=DAILY;${every};BYSETPOS=1`), at('2026-01-01T00:00:00')),
    )
    for (const expansion of kept) expect(expansion.times().next().value).toBe(at('2026-01-01T00:00:00'))
    globalThis.gc?.()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(40_000_000)
    const last = expand(rule(`FREQ=DAILY;${every};BYSETPOS=-1`), at('2026-01-01T23:59:59'))
    expect(take(2, last)).toEqual([at('2026-01-01T23:59:59'), at('2026-01-02T23:59:59')])
    const late = expand(rule(`FREQ=DAILY;${every}`), at('2026-01-01T00:00:00'), { from: at('2026-01-02T23:59:58') })
    expect(take(3, late)).toEqual(['2026-01-02T23:59:58', '2026-01-02T23:59:59', '2026-01-03T00:00:00'].map(at))
  })

  it('ends with the year 9999', () => {
    expect(first(5, 'FREQ=YEARLY', '9998-06-01T00:00:00')).toEqual(['9998-06-01T00:00:00', '9999-06-01T00:00:00'])
  })
})

describe('the start of a rule', () => {
  it.each([
    ['FREQ=WEEKLY;BYDAY=MO,WE', '2026-01-01T09:00:00', 'BYDAY'],
    ['FREQ=YEARLY;BYMONTH=3', '2026-01-01T09:00:00', 'BYMONTH'],
    ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=TH', '2026-01-01T09:00:00', 'BYWEEKNO'],
    ['FREQ=YEARLY;BYYEARDAY=-1', '2026-01-01T09:00:00', 'BYYEARDAY'],
    ['FREQ=MONTHLY;BYMONTHDAY=2,-1', '2026-01-01T09:00:00', 'BYMONTHDAY'],
    ['FREQ=DAILY;BYHOUR=8,10', '2026-01-01T09:00:00', 'BYHOUR'],
    ['FREQ=HOURLY;BYMINUTE=30', '2026-01-01T09:00:00', 'BYMINUTE'],
    ['FREQ=MINUTELY;BYSECOND=30', '2026-01-01T09:00:00', 'BYSECOND'],
    ['FREQ=MONTHLY;BYDAY=TH;BYSETPOS=2', '2026-01-01T09:00:00', 'BYSETPOS'],
    ['FREQ=MONTHLY;BYDAY=TH;BYSETPOS=1', '2026-01-01T09:00:00', undefined],
    ['FREQ=YEARLY;BYYEARDAY=1,-5', '2026-01-01T09:00:00', undefined],
    ['FREQ=SECONDLY;BYHOUR=9', '2026-01-01T09:00:00', undefined],
  ])('%s, %s: the part that it fails is %s', (text, start, part) => {
    expect(failingPart(rule(text), at(start))).toBe(part)
  })
})
