import type { Response } from '@restante/contracts/vocabulary'
import type { CalendarDate } from '../../dates/date.ts'
import { endOf } from '../../dates/times/schedule.ts'
import { writtenRule } from '../../icalendar/write/index.ts'
import type { EventRow, Schedule } from '../../model/rows.ts'

/** What a mail says of an event or of one date. */
export interface Told extends Schedule {
  readonly end: string
  readonly title: string
  readonly description: string | null
  readonly location: string | null
  /** Of a series as a whole. */
  readonly rule: string | null
  /** Where its rule would go on. */
  readonly ends_before: string | null
}

export function toldEvent(event: EventRow): Told {
  const rule = writtenRule(event)
  const isTruncated = rule !== event.rule && event.truncate_before !== null
  return { ...event, end: endOf(event), rule, ends_before: isTruncated ? event.truncate_before : null }
}

export function toldDate(date: CalendarDate): Told {
  return { ...date, rule: null, ends_before: null }
}

/** Everything but tabs and line ends. */
const CONTROL = /[^\P{Cc}\t\n]/gu

/** The text of a mail, for programs that do not read its calendar object, and for people (calendar 14.2). */
export function textOf(told: Told, first?: string): string {
  const { title, location, description, rule, ends_before } = told
  const facts = [
    title,
    `When: ${whenOf(told)}`,
    ...(rule === null ? [] : [`Repeats: ${repetitionOf(rule, ends_before)}`]),
    ...(location === null || location === '' ? [] : [`Where: ${location}`]),
  ]
  const parts = [...(first === undefined ? [] : [first]), facts.join('\n'), ...(description ? [description] : [])]
  return `${parts.join('\n\n')}\n`.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL, '').toWellFormed()
}

const ANSWERS = {
  accepted: 'has accepted',
  declined: 'has declined',
  tentative: 'has tentatively accepted',
} as const satisfies Record<Response, string>

/** The first line of an answer. */
export function answerLine(sender: string, status: Response, isAboutAll: boolean): string {
  return `${sender} ${ANSWERS[status]}${isAboutAll ? ' all dates of' : ''} this invitation.`
}

function whenOf({ all_day, start, end, timezone }: Told): string {
  if (all_day) return start === end ? dayOf(start) : `${dayOf(start)} to ${dayOf(end)}`
  const isOneDay = start.slice(0, 10) === end.slice(0, 10)
  const until = isOneDay ? timeOf(end) : `${dayOf(end)}, ${timeOf(end)}`
  return `${dayOf(start)}, ${timeOf(start)} to ${until} (${timezone})`
}

const DAY = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  weekday: 'long',
  year: 'numeric',
  month: 'long',
  day: 'numeric',
})

function dayOf(wall: string): string {
  return DAY.format(new Date(`${wall.slice(0, 10)}T00:00:00Z`))
}

function dayBefore(wall: string): string {
  return DAY.format(Date.parse(`${wall.slice(0, 10)}T00:00:00Z`) - 24 * 60 * 60 * 1_000)
}

function timeOf(wall: string): string {
  return wall.slice(11, wall.endsWith(':00') ? 16 : undefined)
}

const UNITS: Readonly<Record<string, string>> = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
}

/** How often, without which days: the calendar object has the whole rule. */
function repetitionOf(rule: string, endsBefore: string | null): string {
  const parts = new Map(
    rule.split(';').map((part): [string, string] => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']),
  )
  const unit = UNITS[parts.get('FREQ') ?? ''] ?? ''
  const interval = parts.get('INTERVAL')
  const every = interval === undefined ? `every ${unit}` : `every ${interval} ${unit}s`
  if (endsBefore !== null) return `${every} until ${dayBefore(endsBefore)}`
  const count = parts.get('COUNT')
  const until = parts.get('UNTIL')
  if (count !== undefined) return `${every}, ${count} times`
  return until === undefined ? every : `${every} until ${dayOf(until.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3'))}`
}
