import { randomUUID } from 'node:crypto'
import type { Tx } from '@restante/service/database'
import { editDate, updateEvent } from '../../changing/writes.ts'
import { dateAt } from '../../dates/index.ts'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EventState } from '../../model/rows.ts'
import { knownEvent, loneDates, recurrenceKeyOf, refusalOf, slotOf } from './known.ts'
import { type Applied, type Arrival, causeOf, type Ignored, isOutdated } from './mail.ts'

/** Applies a cancellation: what is cancelled stays to be read (calendar 15). */
export async function applyCancel(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const known = await knownEvent(tx, arrival, file.uid)
  if (known === undefined) return cancelLoneDates(tx, file, arrival)
  const refusal = refusalOf(file, known, arrival)
  if (refusal !== undefined) return { ignored: refusal }
  let state = known
  const ids: string[] = []
  let ignored: Ignored = 'invalid'
  for (const event of file.events) {
    const result = await cancel(tx, event, state, arrival)
    if ('ignored' in result) ignored = result.ignored
    else {
      state = result.state
      ids.push(result.id)
    }
  }
  const [id] = ids
  if (id === undefined) return { ignored }
  return { calendarEventId: ids.length === 1 ? id : state.event.id }
}

/** Of dates that are known without their series: those that the file names, or all of them. */
async function cancelLoneDates(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const lone = await loneDates(tx, arrival, file.uid)
  if (lone.length === 0) return { ignored: 'unknown_event' }
  if (lone.some((state) => refusalOf(file, state, arrival) !== undefined)) return { ignored: 'wrong_organizer' }
  const ids: string[] = []
  for (const event of file.events) {
    const key = recurrenceKeyOf(event, arrival)
    for (const state of lone) {
      if (key !== undefined && key !== state.event.recurrence_id) continue
      if (isOutdated(event, state.event, arrival)) continue
      await updateEvent(tx, arrival.deps, state, { status: 'cancelled' }, causeOf(event, arrival, randomUUID()))
      ids.push(state.event.id)
    }
  }
  const [calendarEventId] = ids
  return calendarEventId === undefined ? { ignored: 'outdated' } : { calendarEventId }
}

type Cancelled = { readonly state: EventState; readonly id: string } | { readonly ignored: Ignored }

async function cancel(tx: Tx, event: ReadEvent, state: EventState, arrival: Arrival): Promise<Cancelled> {
  const cause = causeOf(event, arrival, randomUUID())
  const slot = slotOf(event, state, arrival)
  if (slot === undefined || (state.event.kind === 'single' && slot === state.event.start)) {
    if (isOutdated(event, state.event, arrival)) return { ignored: 'outdated' }
    const after = await updateEvent(tx, arrival.deps, state, { status: 'cancelled' }, cause)
    return { state: after, id: after.event.id }
  }
  if (dateAt(state, slot) === undefined) return { ignored: 'unknown_date' }
  const stored = state.edits.find((edit) => edit.slot === slot && edit.mode === 'single')
  if (isOutdated(event, stored, arrival)) return { ignored: 'outdated' }
  const edit = { slot, mode: 'single', fields: { status: 'cancelled' }, isToldAsChange: true } as const
  const after = await editDate(tx, arrival.deps, state, edit, cause)
  return { state: after, id: datedId(after.event.id, slot) }
}
