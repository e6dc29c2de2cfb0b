import type { RdatePeriod } from '@restante/contracts/resources'
import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import {
  DAY_SECONDS,
  failingPart,
  formatRule,
  InvalidRuleError,
  parseRule,
  type Rule,
  Zone,
} from '@restante/recurrence'
import { ApiError, invalid } from '@restante/service/errors'
import type { Schedule } from '../model/rows.ts'
import { SeriesRule } from './rule.ts'
import { type SeriesDefinition, Slots } from './slots.ts'
import { lengthOf } from './times/periods.ts'
import { isFormOf, readWall, wallOf } from './times/wall.ts'

/** When an event repeats, as callers give it; its members have the forms of the contract. */
export interface GivenRecurrence {
  readonly rule: string
  readonly exdates?: readonly string[] | undefined
  readonly rdates?:
    | readonly (string | { start: string; end?: string | undefined; duration?: string | undefined })[]
    | undefined
}

export interface ReadRecurrence {
  /** In normal form. */
  readonly rule: string
  readonly exdates: string[]
  readonly rdates: (string | RdatePeriod)[]
}

/**
 * Reads when an event repeats (calendar 10).
 * @param truncateBefore of a series that was ended before.
 * @throws ApiError 400 at `recurrence`; 409 `recurrence_density_limit` for too many dates, `materialization_failed` for none.
 */
export function readRecurrence(
  given: GivenRecurrence,
  schedule: Schedule,
  truncateBefore: string | null = null,
): ReadRecurrence {
  const rule = readRule(given.rule, schedule)
  const exdates = unique((given.exdates ?? []).map((text, index) => readSlot(text, ['exdates', index], schedule)))
  const rdates = readRdates(given.rdates ?? [], schedule)
  const read = { rule, exdates, rdates }
  checkDates({ ...schedule, ...read, truncate_before: truncateBefore })
  return read
}

function readRule(text: string, schedule: Schedule): string {
  const rule = parse(text, schedule)
  const normal = formatRule(rule)
  if (normal.length > CALENDAR_LIMITS.rule) {
    throw invalid(['recurrence', 'rule'], `Must be at most ${CALENDAR_LIMITS.rule} characters in normal form`)
  }
  const start = wallOf(schedule.start)
  const failing = failingPart(rule, start)
  if (failing !== undefined) {
    throw invalid(['recurrence', 'rule'], `\`start\` must be a date of the rule, but is none by its ${failing}`)
  }
  if (!SeriesRule.of(normal, schedule.start, schedule.all_day).has(start, Zone.of(schedule.timezone))) {
    throw invalid(['recurrence', 'rule'], 'UNTIL must not be before `start`')
  }
  return normal
}

function parse(text: string, { all_day }: Schedule): Rule {
  try {
    return parseRule(text, { allDay: all_day })
  } catch (error) {
    if (error instanceof InvalidRuleError) throw invalid(['recurrence', 'rule'], error.message)
    throw error
  }
}

function readSlot(text: string, path: readonly (string | number)[], { all_day }: Schedule): string {
  if (isFormOf(text, all_day) && readWall(text) !== undefined) return text
  throw invalid(
    ['recurrence', ...path],
    all_day
      ? 'Must be a day such as 2026-10-07'
      : 'Must be a local time such as 2026-10-07T09:00:00, without an offset',
  )
}

function readRdates(given: NonNullable<GivenRecurrence['rdates']>, schedule: Schedule): (string | RdatePeriod)[] {
  const starts = new Set<string>()
  return given.flatMap((rdate, index) => {
    const start = readSlot(
      typeof rdate === 'string' ? rdate : rdate.start,
      typeof rdate === 'string' ? ['rdates', index] : ['rdates', index, 'start'],
      schedule,
    )
    if (start < schedule.start) throw invalid(['recurrence', 'rdates', index], 'Must not be before `start`')
    const read = typeof rdate === 'string' ? start : readPeriod(rdate, index, schedule)
    if (starts.has(start)) return []
    starts.add(start)
    return [read]
  })
}

function readPeriod(
  { start, end, duration }: { start: string; end?: string | undefined; duration?: string | undefined },
  index: number,
  schedule: Schedule,
): RdatePeriod {
  const path = ['recurrence', 'rdates', index]
  if (schedule.all_day) throw invalid(path, 'Must be a day: an event of whole days has no periods')
  if ((end === undefined) === (duration === undefined)) throw invalid(path, 'Must have either `end` or `duration`')
  if (end !== undefined) readSlot(end, ['rdates', index, 'end'], schedule)
  const period = { start, ...(end !== undefined && { end }), ...(duration !== undefined && { duration }) }
  const length = lengthOf(period, schedule)
  if (length === undefined) {
    throw end === undefined
      ? invalid([...path, 'duration'], 'Must be an ISO 8601 duration of weeks, days or a time, such as PT1H30M')
      : invalid([...path, 'end'], 'Must be after `start`')
  }
  if (length > CALENDAR_LIMITS.length.date) {
    throw invalid([...path, end === undefined ? 'duration' : 'end'], 'Must be at most 31 days after `start`')
  }
  return period
}

/** Refuses a series with too many dates, and one without any (calendar 10). */
function checkDates(series: SeriesDefinition): void {
  const { dates, within, looksAt } = CALENDAR_LIMITS.density
  const start = wallOf(series.start)
  const walls: number[] = []
  for (const { wall } of Slots.of(series).from(start)) {
    const first = walls[walls.length - dates]
    if (first !== undefined && wall - first < within / 1_000) {
      throw new ApiError('recurrence_density_limit', {
        message: `The series has more than ${dates} dates in ${within / (DAY_SECONDS * 1_000)} days`,
      })
    }
    if (wall - start > looksAt / 1_000) return
    walls.push(wall)
  }
  if (walls.length === 0) {
    throw new ApiError('materialization_failed', { message: 'No date of the series is left' })
  }
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
