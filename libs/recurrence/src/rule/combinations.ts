import { hasDays, type Rule } from './rule.ts'

/**
 * What RFC 5545 3.3.10 says of parts that exclude each other.
 * @returns why the rule is not valid; undefined when it is.
 */
export function checkCombination(rule: Rule, allDay: boolean): string | undefined {
  const { frequency, byWeekNumber, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond } = rule
  const hasOrdinal = byDay.some(({ ordinal }) => ordinal !== undefined)
  if (allDay && !hasDays(rule)) return `FREQ=${frequency} needs a time of day, which an event of whole days has not`
  if (allDay && [byHour, byMinute, bySecond].some(isGiven)) {
    return 'BYHOUR, BYMINUTE and BYSECOND need a time of day, which an event of whole days has not'
  }
  if (isGiven(byWeekNumber) && frequency !== 'YEARLY') return 'BYWEEKNO is only for FREQ=YEARLY'
  if (isGiven(byYearDay) && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(frequency)) {
    return `BYYEARDAY is not for FREQ=${frequency}`
  }
  if (isGiven(byMonthDay) && frequency === 'WEEKLY') return 'BYMONTHDAY is not for FREQ=WEEKLY'
  if (hasOrdinal && frequency !== 'MONTHLY' && frequency !== 'YEARLY') {
    return 'BYDAY with positions, such as 1MO, is only for FREQ=MONTHLY and FREQ=YEARLY'
  }
  if (hasOrdinal && isGiven(byWeekNumber)) return 'BYDAY with positions, such as 1MO, does not go with BYWEEKNO'
  return isGiven(rule.byPosition) && !hasOtherPart(rule) ? 'BYSETPOS needs another part that begins with BY' : undefined
}

function hasOtherPart(rule: Rule): boolean {
  const { byMonth, byWeekNumber, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond } = rule
  return [byMonth, byWeekNumber, byYearDay, byMonthDay, byDay, byHour, byMinute, bySecond].some(isGiven)
}

function isGiven(list: readonly unknown[]): boolean {
  return list.length > 0
}
