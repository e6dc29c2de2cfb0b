import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { DAY_SECONDS, type WallTime, Zone } from '@restante/recurrence'
import type { EditRow, EventRow, EventState } from '../model/rows.ts'
import { Composer } from './compose.ts'
import type { CalendarDate } from './date.ts'
import { isGoverned, producedSlot, wasRemoved } from './membership.ts'
import { Slots } from './slots.ts'
import { textOf, wallOf } from './times/wall.ts'

export interface DateWindow {
  readonly after: Date
  readonly before: Date
  /** Also dates that began earlier and end after `after`. */
  readonly includeOverlapping: boolean
}

/** Clocks skip at most a day; what they skip is as much later. */
export const MOST_SKIPPED = 26 * 3_600
/** So many dates that were read are kept until they are dropped together. */
const MOST_READ = 64

/**
 * The dates of an event that lie in a window, by their start and then by their slot. Those with the status cancelled are
 * among them, those taken out of the series are not. It is expanded only as far as it is read.
 */
export function* datesBetween(state: EventState, window: DateWindow): Generator<CalendarDate, void> {
  const composer = new Composer(state)
  if (state.event.kind === 'single') {
    const date = composer.oneOff()
    if (isWithin(date, window)) yield date
    return
  }
  const slots = Slots.of(state.event)
  const waiting = specialDates(state, { composer, slots, window })
  let next = 0
  for (const { date, earliest } of regularDates(state, { composer, slots, window })) {
    for (let first = waiting[next]; first !== undefined && first.start_at < earliest; first = waiting[++next])
      yield first
    if (next > MOST_READ) next -= waiting.splice(0, next).length
    if (isWithin(date, window)) insert(waiting, date, next)
  }
  yield* waiting.slice(next)
}

interface Sources {
  readonly composer: Composer
  readonly slots: Slots
  readonly window: DateWindow
}

/** Dates whose start does not follow from their slot: those that have begun, and those edited alone. */
function specialDates(state: EventState, { composer, slots, window }: Sources): CalendarDate[] {
  const ran = state.begun
    .filter((row) => row.slot !== '' && isWithin(row, window) && !wasRemoved(state, row))
    .map((row) => composer.ran(row))
  const edited = [...composer.singles.keys()].flatMap((slot) => {
    if (composer.begun.has(slot)) return []
    const found = producedSlot(state, composer, slots, slot)
    const date = found && composer.produced(found)
    return date === undefined ? [] : [date]
  })
  return [...ran, ...edited.filter((date) => isWithin(date, window))].sort(byStart)
}

/** All others, by their slots. `earliest`: no later one starts before. */
function* regularDates(
  state: EventState,
  { composer, slots, window }: Sources,
): Generator<{ readonly date: CalendarDate; readonly earliest: Date }, void> {
  const { event } = state
  const zone = Zone.of(event.timezone)
  const before = window.before.getTime() / 1_000
  for (const found of slots.from(firstWall(state, zone, window))) {
    const earliest = zone.earliestFrom(found.wall)
    if (earliest >= before) return
    const slot = textOf(found.wall, event.all_day)
    if (composer.begun.has(slot) || composer.singles.has(slot) || !isGoverned(state, composer, slot)) continue
    const date = composer.produced(found)
    if (date !== undefined) yield { date, earliest: new Date(earliest * 1_000) }
  }
}

/** No date that starts originally before it reaches into the window, or is one of the present definition of the series. */
function firstWall(state: EventState, zone: Zone, window: DateWindow): WallTime {
  const { history_before } = state.event
  const reaching = firstReaching(state, zone, window)
  return history_before === null ? reaching : Math.max(reaching, wallOf(history_before))
}

function firstReaching({ event, edits }: EventState, zone: Zone, { after, includeOverlapping }: DateWindow): WallTime {
  const wall = zone.wallTimeOf(Math.floor(after.getTime() / 1_000)) - MOST_SKIPPED
  if (!includeOverlapping) return wall
  return wall - longestOf(event, edits)
}

/** No date of a series is longer; in seconds. */
export function longestOf({ all_day, duration_value, rdates }: EventRow, edits: readonly EditRow[]): number {
  const unit = all_day ? DAY_SECONDS : 1 / 1_000
  const lengths = edits.map(({ fields }) => (fields.duration_value ?? 0) * unit)
  const added = rdates.length > 0 ? CALENDAR_LIMITS.length.date / 1_000 : 0
  return Math.max(duration_value * unit, added, ...lengths)
}

function isWithin(
  { start_at, end_at }: Pick<CalendarDate, 'start_at' | 'end_at'>,
  { after, before, includeOverlapping }: DateWindow,
): boolean {
  return start_at < before && (includeOverlapping ? end_at > after : start_at >= after)
}

/** Inserts a date in its place, which is near the end, among those from `from` on. */
function insert(dates: CalendarDate[], date: CalendarDate, from: number): void {
  let place = dates.length
  for (
    let last = dates[place - 1];
    place > from && last !== undefined && byStart(last, date) > 0;
    last = dates[place - 1]
  ) {
    place--
  }
  dates.splice(place, 0, date)
}

export function byStart(a: CalendarDate, b: CalendarDate): number {
  return a.start_at.getTime() - b.start_at.getTime() || (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0)
}
