import { Zone } from '@restante/recurrence'
import type { EditRow, EventRow, EventState } from '../model/rows.ts'
import { datesBetween, longestOf, MOST_SKIPPED } from './between.ts'
import { Slots } from './slots.ts'
import { dateOf } from './times/schedule.ts'
import { textOf } from './times/wall.ts'

/** The end of time, of calendars. */
const END = new Date('9999-12-31T23:59:59Z')
/** Dates that are looked at for the next one that is not cancelled; the search goes on when the last of them would start. */
const MOST_LOOKED_AT = 1_000

/**
 * When something is to be done about an event next: one of its dates starts, or one that runs ends. At the earliest now.
 * @returns undefined when nothing is to come.
 */
export function nextBoundary(state: EventState, now: Date): Date | undefined {
  const ends = state.begun.filter((row) => row.state === 'running').map(({ end_at }) => end_at.getTime())
  const next = Math.min(nextStart(state) ?? Number.POSITIVE_INFINITY, ...ends)
  return next === Number.POSITIVE_INFINITY ? undefined : new Date(Math.max(next, now.getTime()))
}

function nextStart(state: EventState): number | undefined {
  const { event } = state
  if (event.status === 'cancelled') return undefined
  let looked = 0
  for (const date of datesBetween(state, { after: event.seen_until, before: END, includeOverlapping: true })) {
    const isDue = date.begun === undefined && date.status !== 'cancelled'
    if (isDue || ++looked === MOST_LOOKED_AT) return date.start_at.getTime()
  }
  return undefined
}

/**
 * No date of an event ends later; of a series it may be a few days more than the last one.
 * @param edits of the series.
 * @returns null: an endless series.
 */
export function lastEndOf(event: EventRow, edits: readonly EditRow[] = []): Date | null {
  if (event.kind === 'single') return event.end_at
  const last = Slots.of(event).last()
  if (last === undefined) return null
  const instant = Zone.of(event.timezone).instantOf(Math.max(last, -1e11)) + longestOf(event, edits) + MOST_SKIPPED
  const moved = edits.map(({ end_at }) => end_at?.getTime() ?? 0)
  return new Date(Math.min(Math.max(dateOf(instant).getTime(), ...moved), END.getTime()))
}

/** The last slot that a rule with COUNT makes, as it is stored with its series; null of any other. */
export function lastSlotOf(event: EventRow): string | null {
  if (event.kind === 'single') return null
  const last = Slots.of({ ...event, last_slot: null }).lastCounted()
  return last === undefined || last === Number.NEGATIVE_INFINITY ? null : textOf(last, event.all_day)
}

/** The first slot of a series whose date starts originally after an instant; edits do not matter. */
export function firstSlotAfter(event: EventRow, now: Date): string | undefined {
  const slots = Slots.of(event)
  const instant = now.getTime() / 1_000
  for (const { wall } of slots.from(slots.zone.wallTimeOf(Math.floor(instant)) - MOST_SKIPPED)) {
    if (slots.zone.instantOf(wall) > instant) return textOf(wall, event.all_day)
  }
  return undefined
}
