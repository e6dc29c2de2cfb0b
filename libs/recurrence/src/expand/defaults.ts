import { hasDays, type Rule, WEEKDAYS } from '../rule/rule.ts'
import { DAY_SECONDS, dateOf, type WallTime, weekdayOf } from '../wall/wall-time.ts'

/**
 * Adds to a rule what RFC 5545 3.3.10 takes from the start of an event: the day and the time of day that no part of the
 * rule chooses.
 */
export function withDefaults(rule: Rule, start: WallTime): Rule {
  const day = Math.floor(start / DAY_SECONDS)
  const seconds = start - day * DAY_SECONDS
  return {
    ...rule,
    ...dayDefaults(rule, day),
    ...(hasDays(rule) && rule.byHour.length === 0 && { byHour: [Math.floor(seconds / 3_600)] }),
    ...(rule.frequency !== 'MINUTELY' &&
      rule.frequency !== 'SECONDLY' &&
      rule.byMinute.length === 0 && { byMinute: [Math.floor(seconds / 60) % 60] }),
    ...(rule.frequency !== 'SECONDLY' && rule.bySecond.length === 0 && { bySecond: [seconds % 60] }),
  }
}

function dayDefaults(rule: Rule, start: number): Partial<Rule> {
  const { frequency, byMonth, byWeekNumber, byYearDay, byMonthDay, byDay } = rule
  const { month, day } = dateOf(start)
  const weekday = WEEKDAYS[weekdayOf(start)] ?? 'MO'
  switch (frequency) {
    case 'YEARLY': {
      if (byYearDay.length + byMonthDay.length + byDay.length > 0) return {}
      if (byWeekNumber.length > 0) return { byDay: [{ weekday }] }
      return { byMonthDay: [day], ...(byMonth.length === 0 && { byMonth: [month] }) }
    }
    case 'MONTHLY':
      return byMonthDay.length + byDay.length > 0 ? {} : { byMonthDay: [day] }
    case 'WEEKLY':
      return byDay.length > 0 ? {} : { byDay: [{ weekday }] }
    default:
      return {}
  }
}
