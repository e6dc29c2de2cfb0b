import { formatRule, InvalidRuleError, parseRule } from '../src/index.ts'

const normal = (text: string, allDay = false) => formatRule(parseRule(text, { allDay }))

describe('a rule is written in its normal form', () => {
  it.each([
    ['rrule:freq=daily', 'FREQ=DAILY'],
    ['BYDAY=FR,MO,MO;WKST=MO;INTERVAL=1;FREQ=WEEKLY', 'FREQ=WEEKLY;BYDAY=MO,FR'],
    ['FREQ=MONTHLY;BYDAY=FR,+1MO,-1TU,1MO', 'FREQ=MONTHLY;BYDAY=-1TU,FR,1MO'],
    [
      'FREQ=YEARLY;BYSETPOS=-1;BYMONTHDAY=+31,-1,07;BYMONTH=2,1',
      'FREQ=YEARLY;BYMONTH=1,2;BYMONTHDAY=-1,7,31;BYSETPOS=-1',
    ],
    ['FREQ=DAILY;UNTIL=20261231T235959Z;INTERVAL=02', 'FREQ=DAILY;INTERVAL=2;UNTIL=20261231T235959Z'],
    ['FREQ=DAILY;COUNT=10000;INTERVAL=366', 'FREQ=DAILY;INTERVAL=366;COUNT=10000'],
  ])('%s', (text, expected) => {
    expect(normal(text)).toBe(expected)
  })

  it('of whole days', () => {
    expect(normal('FREQ=DAILY;UNTIL=20261231', true)).toBe('FREQ=DAILY;UNTIL=20261231')
  })
})

describe('a rule is refused', () => {
  it.each([
    ['', 'An empty part'],
    ['FREQ=DAILY;', 'An empty part'],
    ['FREQ=DAILY\nFREQ=DAILY', 'blanks'],
    ['INTERVAL=2', 'FREQ is missing'],
    ['FREQ=FORTNIGHTLY', 'FREQ must be one of'],
    ['FREQ=DAILY;FREQ=DAILY', 'FREQ occurs twice'],
    ['FREQ=DAILY;RSCALE=GREGORIAN', 'RSCALE'],
    ['FREQ=DAILY;X-RULE=1', 'X-RULE'],
    ['FREQ=DAILY;INTERVAL=0', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=367', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=1e2', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL', 'INTERVAL=value'],
    ['FREQ=DAILY;INTERVAL=2=3', 'INTERVAL=value'],
    ['FREQ=DAILY;COUNT=10001', 'COUNT'],
    ['FREQ=DAILY;COUNT=2;UNTIL=20261231T235959Z', 'COUNT and UNTIL'],
    ['FREQ=DAILY;UNTIL=20261231', 'UNTIL must be in UTC'],
    ['FREQ=DAILY;UNTIL=20261231T235959', 'UNTIL must be in UTC'],
    ['FREQ=DAILY;UNTIL=20260230T000000Z', 'UNTIL'],
    ['FREQ=DAILY;UNTIL=20260101T240000Z', 'UNTIL'],
    ['FREQ=YEARLY;BYMONTH=13', 'BYMONTH'],
    ['FREQ=YEARLY;BYMONTH=-1', 'BYMONTH'],
    ['FREQ=YEARLY;BYMONTH=1,,2', 'BYMONTH'],
    ['FREQ=MONTHLY;BYMONTHDAY=0', 'BYMONTHDAY'],
    ['FREQ=DAILY;BYSECOND=60', 'BYSECOND'],
    ['FREQ=YEARLY;BYMONTH=+5', 'BYMONTH'],
    ['FREQ=DAILY;BYHOUR=009', 'BYHOUR'],
    ['FREQ=DA\u0131LY', 'ASCII'],
    ['FREQ=DAILY; COUNT=2', 'blanks'],
    [`FREQ=YEARLY;BYMONTH=${'1,'.repeat(3_000)}1`, 'characters'],
    ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY'],
    ['FREQ=MONTHLY;BYDAY=0MO', 'BYDAY'],
    ['FREQ=YEARLY;BYDAY=54MO', 'BYDAY'],
    ['FREQ=WEEKLY;BYDAY=1MO', 'BYDAY with positions'],
    ['FREQ=YEARLY;BYWEEKNO=2;BYDAY=1MO', 'BYDAY with positions'],
    ['FREQ=MONTHLY;BYWEEKNO=2', 'BYWEEKNO is only for FREQ=YEARLY'],
    ['FREQ=DAILY;BYYEARDAY=2', 'BYYEARDAY is not for FREQ=DAILY'],
    ['FREQ=WEEKLY;BYMONTHDAY=2', 'BYMONTHDAY is not for FREQ=WEEKLY'],
    ['FREQ=DAILY;BYSETPOS=1', 'BYSETPOS needs another part'],
  ])('%j', (text, message) => {
    expect(() => parseRule(text, { allDay: false })).toThrow(InvalidRuleError)
    expect(() => parseRule(text, { allDay: false })).toThrow(message)
  })

  it.each([
    'FREQ=HOURLY',
    'FREQ=DAILY;BYHOUR=9',
    'FREQ=DAILY;BYMINUTE=0',
    'FREQ=DAILY;BYSECOND=0',
    'FREQ=DAILY;UNTIL=20261231T235959Z',
  ])('%s of whole days', (text) => {
    expect(() => parseRule(text, { allDay: true })).toThrow(InvalidRuleError)
  })
})
