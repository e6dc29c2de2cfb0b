import { processorMs } from '@restante/testkit'
import { readRecurrence, readSchedule } from '../../src/dates/index.ts'
import { refusal } from './states.ts'

const START = '2026-01-05T09:00:00'
type Given = Parameters<typeof readRecurrence>[0]

const timed = (start = START, more: { duration_mode?: 'exact' } = {}) =>
  readSchedule({
    start,
    end: `${start.slice(0, 11)}23:59:59`,
    all_day: false,
    timezone: 'Europe/Berlin',
    series: true,
    ...more,
  })
const days = readSchedule({
  start: '2026-01-05',
  end: '2026-01-05',
  all_day: true,
  timezone: 'Europe/Berlin',
  series: true,
})
const read = (given: Given, schedule = timed()) => readRecurrence(given, schedule)

describe('a recurrence', () => {
  it('is kept in normal form, each date once', () => {
    const rdates = ['2026-01-06T08:00:00', { start: '2026-01-06T08:00:00', duration: 'PT1H' }]
    expect(read({ rule: 'RRULE:byday=we,mo;freq=weekly;wkst=MO;interval=1', exdates: [START, START], rdates })).toEqual(
      { rule: 'FREQ=WEEKLY;BYDAY=MO,WE', exdates: [START], rdates: ['2026-01-06T08:00:00'] },
    )
  })

  it.each<[Given, string]>([
    [{ rule: 'FREQ=WEEKLY;BYDAY=TU' }, 'recurrence.rule: `start` must be a date of the rule, but is none by its BYDAY'],
    [{ rule: 'FREQ=DAILY;BYHOUR=10' }, 'none by its BYHOUR'],
    [{ rule: 'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2' }, 'none by its BYSETPOS'],
    [{ rule: 'FREQ=DAILY;UNTIL=20260105T075959Z' }, 'recurrence.rule: UNTIL must not be before `start`'],
    [{ rule: 'FREQ=DAILY;UNTIL=20260105T080000Z' }, 'accepted'],
    [{ rule: 'FREQ=DAILY;UNTIL=20260105' }, 'recurrence.rule: UNTIL must be in UTC'],
    [{ rule: 'FREQ=DAILY;COUNT=2;UNTIL=20270105T080000Z' }, 'COUNT and UNTIL exclude'],
    [{ rule: 'FREQ=DAILY;X-PART=1' }, 'recurrence.rule: X-PART is not a part'],
    [{ rule: 'FREQ=DAILY', exdates: ['2026-01-06'] }, 'recurrence.exdates.0: Must be a local time'],
    [{ rule: 'FREQ=DAILY', exdates: ['2026-02-30T09:00:00'] }, 'recurrence.exdates.0: Must be a local time'],
    [{ rule: 'FREQ=DAILY', exdates: ['2020-01-01T09:00:00'] }, 'accepted'],
    [{ rule: 'FREQ=DAILY', rdates: ['2026-01-05T08:59:59'] }, 'recurrence.rdates.0: Must not be before `start`'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START }] }, 'Must have either `end` or `duration`'],
    [
      { rule: 'FREQ=DAILY', rdates: [{ start: START, end: '2026-01-05T10:00:00', duration: 'PT1H' }] },
      'Must have either `end` or `duration`',
    ],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, end: START }] }, 'recurrence.rdates.0.end: Must be after `start`'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: 'P1M' }] }, 'recurrence.rdates.0.duration: Must be'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: 'PT' }] }, 'recurrence.rdates.0.duration: Must be'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: '-PT1H' }] }, 'recurrence.rdates.0.duration: Must be'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: 'PT0S' }] }, 'recurrence.rdates.0.duration: Must be'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: 'P31DT1S' }] }, 'Must be at most 31 days'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: START, duration: 'P4W' }] }, 'accepted'],
    [{ rule: `FREQ=YEARLY;BYYEARDAY=5,${numbers(100, 250)}` }, 'recurrence.rule: Must be at most 512 characters'],
  ])('%j is told: %s', (given, expected) => {
    expect(refusal(() => read(given))).toContain(expected)
  })

  it.each<[Given, string]>([
    [{ rule: 'FREQ=DAILY;UNTIL=20260105' }, 'accepted'],
    [{ rule: 'FREQ=DAILY;UNTIL=20260104' }, 'UNTIL must not be before `start`'],
    [{ rule: 'FREQ=DAILY;UNTIL=20260105T000000Z' }, 'UNTIL of whole days must have the form YYYYMMDD'],
    [{ rule: 'FREQ=DAILY;BYHOUR=9' }, 'BYHOUR, BYMINUTE and BYSECOND need a time of day'],
    [{ rule: 'FREQ=HOURLY' }, 'needs a time of day'],
    [{ rule: 'FREQ=DAILY', exdates: [START] }, 'recurrence.exdates.0: Must be a day'],
    [{ rule: 'FREQ=DAILY', rdates: [{ start: '2026-01-07', duration: 'P1D' }] }, 'has no periods'],
  ])('of whole days, %j is told: %s', (given, expected) => {
    expect(refusal(() => read(given, days))).toContain(expected)
  })

  it('may have 730 dates in 90 days, and not one more', () => {
    const eight = { rule: 'FREQ=DAILY;BYHOUR=0,3,6,9,12,15,18,21' }
    const more = (count: number) => Array.from({ length: count }, (_, minute) => `2026-01-20T01:${10 + minute}:00`)
    expect(refusal(() => read({ ...eight, rdates: more(10) }))).toBe('accepted')
    expect(refusal(() => read({ ...eight, rdates: more(11) }))).toBe('recurrence_density_limit')
    expect(refusal(() => read({ ...eight, rdates: more(11), exdates: ['2026-02-01T12:00:00'] }))).toBe('accepted')
    expect(refusal(() => read({ rule: 'FREQ=HOURLY' }))).toBe('recurrence_density_limit')
    expect(refusal(() => read({ rule: 'FREQ=SECONDLY;COUNT=730' }))).toBe('accepted')
    expect(refusal(() => read({ rule: 'FREQ=SECONDLY;COUNT=731' }))).toBe('recurrence_density_limit')
  })

  it('must have a date', () => {
    expect(refusal(() => read({ rule: 'FREQ=DAILY;COUNT=1', exdates: [START] }))).toBe('materialization_failed')
    expect(refusal(() => read({ rule: 'FREQ=DAILY;COUNT=2', exdates: [START] }))).toBe('accepted')
    expect(refusal(() => readRecurrence({ rule: 'FREQ=DAILY' }, timed(), START))).toBe('materialization_failed')
  })

  it.each([
    'FREQ=SECONDLY;BYHOUR=3,9;BYMINUTE=0;BYSECOND=1,2,3',
    'FREQ=MINUTELY;INTERVAL=7;BYHOUR=9;BYMINUTE=0',
    'FREQ=SECONDLY;INTERVAL=361;BYMONTH=1;BYMONTHDAY=5;BYHOUR=9;BYMINUTE=0;BYSECOND=1,2,3',
    'FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=5;BYDAY=MO;BYHOUR=9;COUNT=10000',
    'FREQ=MINUTELY;BYDAY=MO;BYMONTH=1;BYHOUR=9;BYMINUTE=0;BYSECOND=1,2,3;COUNT=10000',
  ])('is read without a look at each time before its dates: %s', (rule) => {
    // The compiler may fall into any of them: the fastest of three tells.
    const times = [1, 2, 3].map((second) =>
      processorMs(() => {
        expect(refusal(() => read({ rule }, timed(`2026-01-05T09:00:0${second}`)))).toBe('accepted')
      }),
    )
    expect(Math.min(...times)).toBeLessThan(500)
  })
})

function numbers(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => from + index).join(',')
}
