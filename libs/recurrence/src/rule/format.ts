import type { Rule } from './rule.ts'

/**
 * The normal form of a rule: parts in the order of RFC 5545 3.3.10, and without what is so anyway (`INTERVAL=1`,
 * `WKST=MO`). Rules that are the same have the same normal form, and reading it yields the rule again.
 */
export function formatRule(rule: Rule): string {
  const { frequency, interval, count, until, weekStart, byDay } = rule
  const parts: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ['FREQ', frequency],
    ['INTERVAL', interval === 1 ? undefined : interval],
    ['COUNT', count],
    ['UNTIL', until],
    ['WKST', weekStart === 'MO' ? undefined : weekStart],
    ['BYMONTH', list(rule.byMonth)],
    ['BYWEEKNO', list(rule.byWeekNumber)],
    ['BYYEARDAY', list(rule.byYearDay)],
    ['BYMONTHDAY', list(rule.byMonthDay)],
    ['BYDAY', list(byDay.map(({ weekday, ordinal }) => `${ordinal ?? ''}${weekday}`))],
    ['BYHOUR', list(rule.byHour)],
    ['BYMINUTE', list(rule.byMinute)],
    ['BYSECOND', list(rule.bySecond)],
    ['BYSETPOS', list(rule.byPosition)],
  ]
  return parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join(';')
}

function list(values: readonly (number | string)[]): string | undefined {
  return values.length === 0 ? undefined : values.join(',')
}
