import type { BegunDateRow, EventState } from '../model/rows.ts'
import { Composer } from './compose.ts'
import type { CalendarDate } from './date.ts'
import { type Slot, Slots } from './slots.ts'
import { isFormOf, readWall } from './times/wall.ts'

/**
 * Whether a date that has begun was taken out of its series with a DELETE while it ran, alone or with all later ones. Dates that
 * had ended by then stay as they ran (calendar 6, 7). Only the row of the date says so: exdates and the end of a series move
 * with its start, and dates that ran do not.
 */
export function wasRemoved({ cancelled }: EventState, { slot }: BegunDateRow): boolean {
  return cancelled.some((row) => row.slot === slot)
}

/**
 * Whether the present definition of a series says anything about a slot. Of the dates before its last change of time only
 * those that ran exist; but a date that was moved alone is not moved with its series (calendar 6).
 */
export function isGoverned({ event: { history_before } }: EventState, composer: Composer, slot: string): boolean {
  return history_before === null || slot >= history_before || composer.singles.get(slot)?.fields.start !== undefined
}

/** The slot of a text, when the series has it now. */
export function producedSlot(state: EventState, composer: Composer, slots: Slots, slot: string): Slot | undefined {
  if (!isFormOf(slot, state.event.all_day) || !isGoverned(state, composer, slot)) return undefined
  const wall = readWall(slot)
  return wall === undefined ? undefined : slots.at(wall)
}

/**
 * The date of a slot: one that has begun, as it ran, or one that the series has now. The slot of a one-off is empty.
 * @returns undefined when there is none, or none any more.
 */
export function dateAt(state: EventState, slot: string): CalendarDate | undefined {
  return dateFinder(state)(slot)
}

/** Finds dates of a state as `dateAt` does; what all of them need is made once. */
export function dateFinder(state: EventState): (slot: string) => CalendarDate | undefined {
  const composer = new Composer(state)
  let slots: Slots | undefined
  return (slot) => {
    if (slot === '') return state.event.kind === 'single' ? composer.oneOff() : undefined
    const begun = composer.begun.get(slot)
    if (begun !== undefined) return wasRemoved(state, begun) ? undefined : composer.ran(begun)
    if (state.event.kind === 'single') return undefined
    slots ??= Slots.of(state.event)
    const found = producedSlot(state, composer, slots, slot)
    return found && composer.produced(found)
  }
}

/** The date of a slot that a DELETE with `mode=future` took out of its series, as it would be without. */
export function truncatedDateAt(state: EventState, slot: string): CalendarDate | undefined {
  const { kind, truncate_before } = state.event
  if (kind === 'single' || truncate_before === null || slot < truncate_before) return undefined
  const composer = new Composer(state)
  const begun = composer.begun.get(slot)
  if (begun !== undefined) return wasRemoved(state, begun) ? composer.ran(begun) : undefined
  const found = producedSlot(state, composer, Slots.withoutEnd(state.event), slot)
  return found && composer.produced(found)
}
