import { instantsOf } from '../../src/dates/index.ts'
import type { EventRow, EventState } from '../../src/model/rows.ts'
import { oneOff } from '../dates/states.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND

/** A wall time of UTC, so many milliseconds from an instant, at a whole second. */
export function wall(ms: number, from = Date.now()): string {
  return new Date(Math.ceil((from + ms) / SECOND) * SECOND).toISOString().slice(0, 19)
}

/** A one-off event in UTC. */
export function utc(start: string, end: string, more: Partial<EventRow> = {}): EventState {
  const state = oneOff(start, end, more)
  const schedule = { ...state.event, timezone: 'UTC' }
  return { ...state, event: { ...schedule, ...instantsOf(schedule) } }
}

/** `starting` or `ending` of each that was told. */
export function types(told: readonly { event_type: string }[]): (string | undefined)[] {
  return told.map(({ event_type }) => event_type.split('.').at(-1))
}
