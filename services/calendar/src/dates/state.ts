import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import type { EventState } from '../model/rows.ts'
import { Composer } from './compose.ts'
import { dateAt, truncatedDateAt } from './membership.ts'
import { Slots } from './slots.ts'
import { isFormOf, readWall } from './times/wall.ts'

/**
 * What an id of a date leads to (calendar 8). `live`: the date. `removed`: it was cancelled with DELETE within 30 days.
 * `expired`: it ended, or was cancelled, longer ago. `none`: it never was.
 */
export type SlotState = 'live' | 'removed' | 'expired' | 'none'

export function slotState(state: EventState, slot: string, now: Date): SlotState {
  const kept = now.getTime() - CALENDAR_LIMITS.dateKept
  const since = (at: Date, fresh: SlotState): SlotState => (at.getTime() > kept ? fresh : 'expired')
  const date = dateAt(state, slot)
  if (date !== undefined) return since(date.end_at, 'live')
  const cancelled = state.cancelled.find((row) => row.slot === slot)
  if (cancelled !== undefined) return since(cancelled.cancelled_at, 'removed')
  const { truncated_at } = state.event
  if (truncated_at !== null && truncatedDateAt(state, slot) !== undefined) return since(truncated_at, 'removed')
  return wasLongAgo(state, slot, kept) ? 'expired' : 'none'
}

/** Whether the record of a date that ran is not kept any more, as far as the present rule tells: it may have been another. */
function wasLongAgo({ event, ...rows }: EventState, slot: string, kept: number): boolean {
  if (event.history_before === null || slot >= event.history_before || !isFormOf(slot, event.all_day)) return false
  const wall = readWall(slot)
  const found = wall === undefined ? undefined : Slots.of(event).at(wall)
  const date = found && new Composer({ event, ...rows }).produced(found)
  return date !== undefined && date.end_at.getTime() <= kept
}
