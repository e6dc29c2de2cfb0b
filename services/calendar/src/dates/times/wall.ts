import { DAY_SECONDS, formatDay, formatWallTime, parseDay, parseWallTime, type WallTime } from '@restante/recurrence'

/** Reads a wall time or a day, which is its midnight. @returns undefined for anything else. */
export function readWall(text: string): WallTime | undefined {
  if (text.includes('T')) return parseWallTime(text)
  const day = parseDay(text)
  return day === undefined ? undefined : day * DAY_SECONDS
}

/**
 * The wall time of a text that was checked before it was stored.
 * @throws TypeError for anything else.
 */
export function wallOf(text: string): WallTime {
  const wall = readWall(text)
  if (wall === undefined) throw new TypeError(`${text} is no wall time`)
  return wall
}

/** Writes a wall time as the dates of an event are written: of whole days the day. */
export function textOf(wall: WallTime, allDay: boolean): string {
  return allDay ? formatDay(Math.floor(wall / DAY_SECONDS)) : formatWallTime(wall)
}

/** Whether a slot has the form of those of an event. */
export function isFormOf(slot: string, allDay: boolean): boolean {
  return slot.includes('T') !== allDay
}

/**
 * Where a slot lies after its series was moved, by as much on the clock as its start (calendar 6). It becomes a day when the
 * series becomes one of whole days, and gets the time of the new start when it becomes one with a time of day.
 */
export function shiftSlot(slot: string, fromStart: string, toStart: string): string {
  const [from, to, wall] = [wallOf(fromStart), wallOf(toStart), wallOf(slot)]
  if (fromStart.includes('T') && toStart.includes('T')) return textOf(wall + to - from, false)
  const day = dayOf(wall) + dayOf(to) - dayOf(from)
  return textOf(day * DAY_SECONDS + (to - dayOf(to) * DAY_SECONDS), !toStart.includes('T'))
}

function dayOf(wall: WallTime): number {
  return Math.floor(wall / DAY_SECONDS)
}
