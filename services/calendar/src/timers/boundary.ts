import type { Schedule } from '@restante/jobs'
import type { Tx } from '@restante/service/database'
import { nextBoundary } from '../dates/index.ts'
import type { EventState } from '../model/rows.ts'
import type { CalendarTimers } from './kinds.ts'

/**
 * Sets the timer of an event to when one of its dates starts or ends next. To be called with what is stored by the end of each
 * transaction that changes when they do, under the lock of the event.
 */
export async function scheduleBoundary(
  tx: Tx,
  timers: Schedule<CalendarTimers>,
  state: EventState,
  now: Date,
): Promise<void> {
  const { id } = state.event
  const dueAt = nextBoundary(state, now)
  if (dueAt === undefined) await timers.cancel(tx, 'boundary', id)
  else await timers.schedule(tx, { kind: 'boundary', key: id, dueAt, payload: { event_id: id } })
}
