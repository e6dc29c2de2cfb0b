import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { CalendarDate } from '../../dates/index.ts'

/** Where a date is between its start and its end (calendar 12). `starting`: its start is just being recorded. */
export type Phase = 'before' | 'starting' | 'running' | 'ended' | 'expired'

export function phaseOf({ start_at, end_at, begun, status }: CalendarDate, now: Date): Phase {
  if (end_at.getTime() <= now.getTime() - CALENDAR_LIMITS.dateKept) return 'expired'
  if (end_at <= now) return 'ended'
  if (begun !== undefined) return 'running'
  if (start_at > now) return 'before'
  // The start of a cancelled date is not recorded.
  return status === 'cancelled' ? 'running' : 'starting'
}

/** A change of a date as the gates see it. */
export interface Gated {
  readonly effect: 'none' | 'descriptive' | 'times'
  /** Whether its start moves, or it becomes recurring. */
  readonly movesStart: boolean
  /** When it ends after the change. */
  readonly end_at: Date
}

/** @throws ApiError 409 for a date that cannot be taken out of its series at present (calendar 7, 12). */
export function requireRemovable(date: CalendarDate, now: Date): void {
  if (date.end_at <= now) throw new ApiError('event_already_started', { message: 'The date has ended already' })
  if (phaseOf(date, now) === 'starting') throw new ApiError('event_starting')
}

/** @throws ApiError 409 or 410 for a change that a date does not allow at present (calendar 12). */
export function requireAllowed(date: CalendarDate, { effect, movesStart, end_at }: Gated, now: Date): void {
  const phase = phaseOf(date, now)
  if (phase === 'expired') throw new ApiError('event_expired')
  if (effect !== 'times' || phase === 'before') return
  if (phase === 'starting') throw new ApiError('event_starting')
  const isEndMoved = end_at.getTime() !== date.end_at.getTime()
  if (phase === 'ended' || movesStart || (isEndMoved && end_at <= now)) throw new ApiError('event_already_started')
}
