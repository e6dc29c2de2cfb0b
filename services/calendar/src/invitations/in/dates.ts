import { randomUUID } from 'node:crypto'
import type { Tx } from '@restante/service/database'
import { editDates, type SingleEdit } from '../../changing/edit-dates.ts'
import { dateAt } from '../../dates/index.ts'
import type { ReadEvent } from '../../icalendar/read/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EventState } from '../../model/rows.ts'
import { slotOf } from './known.ts'
import { type Applied, type Arrival, causeOf, isOutdated } from './mail.ts'

/** An event after what a file says of it as a whole. */
export interface Progress {
  readonly state: EventState
  readonly isApplied: boolean
}

type Change = Pick<SingleEdit['edit'], 'fields' | 'isToldAsChange'>

/**
 * Applies what a file says of dates of a series, of those it has and each once, as one change.
 * @param changeOf makes the change of a date.
 */
export async function applyDates(
  tx: Tx,
  dates: readonly ReadEvent[],
  { state, isApplied }: Progress,
  arrival: Arrival,
  changeOf: (slot: string, event: ReadEvent) => Change,
): Promise<Applied> {
  const changes = new Map<string, SingleEdit>()
  let isOld = false
  for (const event of state.event.kind === 'series' ? dates : []) {
    const slot = slotOf(event, state, arrival)
    if (slot === undefined || changes.has(slot) || dateAt(state, slot) === undefined) continue
    const stored = state.edits.find((edit) => edit.slot === slot && edit.mode === 'single')
    isOld = isOutdated(event, stored, arrival)
    if (isOld) continue
    const edit = { slot, mode: 'single', ...changeOf(slot, event) } as const
    changes.set(slot, { edit, cause: causeOf(event, arrival, randomUUID()) })
  }
  await editDates(tx, arrival.deps, state, [...changes.values()])
  const [slot] = changes.keys()
  if (isApplied || changes.size > 1) return { calendarEventId: state.event.id }
  if (slot !== undefined) return { calendarEventId: datedId(state.event.id, slot) }
  return { ignored: isOld || dates.length === 0 ? 'outdated' : 'unknown_date' }
}
