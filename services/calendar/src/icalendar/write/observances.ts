import { DAY_SECONDS, formatWallTime, type Transition, type WallTime } from '@restante/recurrence'

/** A change of the clocks, with the day of its wall time: what the clocks showed until then. */
export interface Onset extends Transition {
  readonly wall: WallTime
  readonly year: number
  readonly month: number
  readonly day: number
  /** Sunday is 0. */
  readonly weekday: number
  readonly daysOfMonth: number
}

export function onsetOf(transition: Transition): Onset {
  const wall = transition.at + transition.before
  const date = new Date(Math.floor(wall / DAY_SECONDS) * DAY_SECONDS * 1_000)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  const daysOfMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return { ...transition, wall, year, month: month + 1, day, weekday: date.getUTCDay(), daysOfMonth }
}

/** Changes of the clocks by one rule, or those that follow none. */
export interface Observance {
  readonly onsets: readonly [Onset, ...Onset[]]
  /** When they repeat; undefined: each is named. */
  readonly rule: Readonly<Record<string, string | number>> | undefined
}

/** Within so many years each day of a month is each day of the week, and fewer could look like a rule by chance. */
const LEAST_YEARS = 12

/**
 * Groups changes of one kind: those that go on by a rule once a year, and those before.
 * @param onsets earliest first, at least one, complete until `end`.
 * @param end the first year that was not looked at.
 */
export function observancesOf(onsets: readonly Onset[], end: number): Observance[] {
  // Of a run that is too long for a rule, its end may have one.
  for (let length = runOf(onsets, end); length >= LEAST_YEARS; length--) {
    const rule = ruleOf(onsets.slice(-length))
    if (rule) return [...named(onsets.slice(0, -length)), ...named(onsets.slice(-length), rule)]
  }
  return named(onsets)
}

function named(onsets: readonly Onset[], rule?: Observance['rule']): Observance[] {
  const [first, ...rest] = onsets
  return first ? [{ onsets: [first, ...rest], rule }] : []
}

/** How many of the last changes lie in successive years until the end, each in the same month at the same time. */
function runOf(onsets: readonly Onset[], end: number): number {
  let size = 0
  let next = { year: end }
  for (const onset of onsets.toReversed()) {
    const last = onsets.at(-1) ?? onset
    if (onset.year !== next.year - 1 || onset.month !== last.month || timeOf(onset) !== timeOf(last)) break
    size++
    next = onset
  }
  return size
}

function timeOf({ wall }: Onset): string {
  return formatWallTime(wall).slice(11)
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** The rule of changes in one month of successive years, if there is one that programs know. */
function ruleOf(onsets: readonly Onset[]): Observance['rule'] {
  const [first] = onsets
  if (!first) return undefined
  const yearly = { freq: 'YEARLY', bymonth: first.month }
  if (onsets.every(({ day }) => day === first.day)) return { ...yearly, bymonthday: first.day }
  if (onsets.some(({ weekday }) => weekday !== first.weekday)) return undefined
  const weekday = WEEKDAYS[first.weekday] ?? ''
  for (const week of [1, 2, 3, 4]) {
    if (onsets.every(({ day }) => Math.ceil(day / 7) === week)) return { ...yearly, byday: `${week}${weekday}` }
  }
  if (onsets.every(({ day, daysOfMonth }) => day > daysOfMonth - 7)) return { ...yearly, byday: `-1${weekday}` }
  const days = onsets.map(({ day }) => day)
  const [from, to] = [Math.min(...days), Math.max(...days)]
  // Only a whole week says from which day on it is.
  if (to - from !== 6) return undefined
  return { ...yearly, byday: weekday, bymonthday: Array.from({ length: 7 }, (_, index) => from + index).join(',') }
}
