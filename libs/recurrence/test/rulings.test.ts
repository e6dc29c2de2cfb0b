import { first } from './support.ts'

/** Where dateutil 2.9 and libical 3.0 say different things of a rule, or both the wrong one, RFC 5545 3.3.10 decides. */
describe('where programs differ', () => {
  it('BYDAY takes weekdays with and without a position together, of which dateutil finds none', () => {
    expect(first(4, 'FREQ=MONTHLY;BYDAY=1MO,FR', '2026-05-01T09:00:00')).toEqual([
      '2026-05-01T09:00:00',
      '2026-05-04T09:00:00',
      '2026-05-08T09:00:00',
      '2026-05-15T09:00:00',
    ])
  })

  it('a day of the month goes with either of them in a year, which both miss', () => {
    expect(first(2, 'FREQ=YEARLY;BYMONTHDAY=11;BYDAY=2FR,MO', '2026-05-11T09:00:00')).toEqual([
      '2026-05-11T09:00:00',
      '2027-01-11T09:00:00',
    ])
  })

  it('BYMONTHDAY expands a year to all its months, of which libical takes the first', () => {
    expect(first(3, 'FREQ=YEARLY;BYMONTHDAY=29', '2027-01-29T09:00:00')).toEqual([
      '2027-01-29T09:00:00',
      '2027-03-29T09:00:00',
      '2027-04-29T09:00:00',
    ])
  })

  it('BYWEEKNO alone takes the weekday of the start, where dateutil takes all seven', () => {
    expect(first(2, 'FREQ=YEARLY;BYWEEKNO=22', '2025-05-29T09:00:00')).toEqual([
      '2025-05-29T09:00:00',
      '2026-05-28T09:00:00',
    ])
  })

  it('BYSETPOS counts the whole first week, where dateutil counts from the start and libical not at all', () => {
    expect(first(2, 'FREQ=WEEKLY;BYDAY=TU,WE,TH,SA;BYSETPOS=2', '2026-01-10T10:30:00')).toEqual([
      '2026-01-14T10:30:00',
      '2026-01-21T10:30:00',
    ])
  })

  it('BYMONTHDAY limits each day of an interval of days, where libical loses some', () => {
    expect(first(3, 'FREQ=DAILY;INTERVAL=4;BYMONTHDAY=1,20', '2025-04-21T12:30:00')).toEqual([
      '2025-06-20T12:30:00',
      '2025-09-20T12:30:00',
      '2025-12-01T12:30:00',
    ])
  })
})
