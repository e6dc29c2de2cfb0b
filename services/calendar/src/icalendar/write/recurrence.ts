import type { RdatePeriod } from '@restante/contracts/resources'
import { DAY_SECONDS, expand, parseRule, type Rule, Zone } from '@restante/recurrence'
import { textOf, wallOf } from '../../dates/times/wall.ts'
import type { EventRow } from '../../model/rows.ts'
import { instantValue, type Property } from './jcal.ts'
import { times, timeValue, zoneOf } from './times.ts'

type Repeating = Pick<EventRow, 'all_day' | 'timezone' | 'start' | 'rule' | 'exdates' | 'rdates' | 'truncate_before'>

/** RRULE, EXDATE and RDATE of a series (calendar 14.2); nothing of a one-off. */
export function recurrenceProperties(event: Repeating): Property[] {
  const { rule, exdates, truncate_before } = event
  if (rule === null) return []
  const isKept = (slot: string) => truncate_before === null || slot < truncate_before
  const rdates = event.rdates.filter((rdate) => isKept(typeof rdate === 'string' ? rdate : rdate.start))
  const walls = rdates.filter((rdate) => typeof rdate === 'string')
  const periods = rdates.filter((rdate) => typeof rdate !== 'string')
  const kept = exdates.filter(isKept)
  return [
    ['rrule', {}, 'recur', parts(truncated(event, rule))],
    ...(kept.length > 0 ? [times('exdate', event, ...kept)] : []),
    ...(walls.length > 0 ? [times('rdate', event, ...walls)] : []),
    ...(periods.length > 0 ? [periodsProperty(event, periods)] : []),
  ]
}

/** The rule of a series as it is written, with the end that it has; null of a one-off. */
export function writtenRule(event: Repeating): string | null {
  return event.rule === null ? null : truncated(event, event.rule)
}

/** The parts of a rule as jCal has them. */
function parts(rule: string): Record<string, string> {
  return Object.fromEntries(
    rule.split(';').map((part): [string, string] => {
      const [name = '', value = ''] = part.split('=')
      return [name.toLowerCase(), name === 'UNTIL' ? untilValue(value) : value]
    }),
  )
}

/** `20261007T130000Z` or `20261007` as jCal has them. */
function untilValue(value: string): string {
  const day = `${value.slice(0, 4)}-${value.slice(4, 6)}-${value.slice(6, 8)}`
  if (value.length <= 8) return day
  return `${day}T${value.slice(9, 11)}:${value.slice(11, 13)}:${value.slice(13, 15)}Z`
}

/** The rule of a series that ends before a slot: with an UNTIL just before it, unless it ends earlier by itself. */
function truncated(event: Repeating, rule: string): string {
  const { truncate_before, all_day } = event
  if (truncate_before === null) return rule
  const until = untilBefore(event, truncate_before)
  const [own] = /(?<=(?:^|;)UNTIL=)[^;]+/.exec(rule) ?? []
  if (own !== undefined && own <= until) return rule
  if (/(?:^|;)COUNT=/.test(rule) && endsBefore(event, parseRule(rule, { allDay: all_day }), truncate_before))
    return rule
  const others = rule.split(';').filter((part) => !/^(?:COUNT|UNTIL)=/.test(part))
  return [...others, `UNTIL=${until}`].join(';')
}

/** The last second, or day, before a slot. */
function untilBefore({ all_day, timezone }: Repeating, slot: string): string {
  const wall = wallOf(slot)
  if (all_day) return textOf(wall - DAY_SECONDS, true).replaceAll('-', '')
  const instant = new Date((Zone.of(timezone).instantOf(wall) - 1) * 1_000)
  return instantValue(instant).replaceAll(/[-:]/g, '')
}

/** Whether the last date of a rule with COUNT lies before a slot. */
function endsBefore({ start }: Repeating, rule: Rule, slot: string): boolean {
  const end = wallOf(slot)
  for (const time of expand(rule, wallOf(start))) if (time >= end) return false
  return true
}

/** Dates of a length of their own. */
function periodsProperty(event: Repeating, periods: readonly RdatePeriod[]): Property {
  const zone = zoneOf(event)
  const values = periods.map(({ start, end, duration }) => [
    timeValue(event, start),
    end === undefined ? (duration ?? 'PT0S') : timeValue(event, end),
  ])
  return ['rdate', zone === undefined ? {} : { tzid: zone }, 'period', ...values]
}
