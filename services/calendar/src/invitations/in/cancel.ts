import { randomUUID } from 'node:crypto'
import type { Tx } from '@restante/service/database'
import { updateEvent } from '../../changing/writes.ts'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import type { EventState } from '../../model/rows.ts'
import { applyDates, type Progress } from './dates.ts'
import { knownEvent, loneDates, recurrenceKeyOf, refusalOf, slotOf } from './known.ts'
import { type Applied, type Arrival, causeOf, isOutdated } from './mail.ts'

/** Applies a cancellation: what is cancelled stays to be read (calendar 15). */
export async function applyCancel(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const known = await knownEvent(tx, arrival, file.uid)
  if (known === undefined) return cancelLoneDates(tx, file, arrival)
  const refusal = refusalOf(file, [known], arrival)
  if (refusal !== undefined) return { ignored: refusal }
  const isWhole = (event: ReadEvent) => {
    const slot = slotOf(event, known, arrival)
    return slot === undefined || (known.event.kind === 'single' && slot === known.event.start)
  }
  let main: Progress = { state: known, isApplied: false }
  for (const event of file.events.filter(isWhole)) main = (await cancel(tx, event, main.state, arrival)) ?? main
  const dates = file.events.filter((event) => !isWhole(event))
  return applyDates(tx, dates, main, arrival, () => ({ fields: { status: 'cancelled' }, isToldAsChange: true }))
}

/** Of dates that are known without their series: those that the file names, or all of them. */
async function cancelLoneDates(tx: Tx, file: ReadFile, arrival: Arrival): Promise<Applied> {
  const lone = await loneDates(tx, arrival, file.uid)
  if (lone.length === 0) return { ignored: 'unknown_event' }
  const refusal = refusalOf(file, lone, arrival)
  if (refusal !== undefined) return { ignored: refusal }
  const cancelled = new Map<EventState, Progress>()
  for (const event of file.events) {
    const key = recurrenceKeyOf(event, arrival)
    for (const known of lone) {
      if (key !== undefined && key !== known.event.recurrence_id) continue
      const after = await cancel(tx, event, cancelled.get(known)?.state ?? known, arrival)
      if (after !== undefined) cancelled.set(known, after)
    }
  }
  const [first] = cancelled.keys()
  return first === undefined ? { ignored: 'outdated' } : { calendarEventId: first.event.id }
}

/** @param state as it is by now. @returns undefined when the event was changed later. */
async function cancel(tx: Tx, event: ReadEvent, state: EventState, arrival: Arrival): Promise<Progress | undefined> {
  if (isOutdated(event, state.event, arrival)) return undefined
  const cause = causeOf(event, arrival, randomUUID())
  return { state: await updateEvent(tx, arrival.deps, state, { status: 'cancelled' }, cause), isApplied: true }
}
