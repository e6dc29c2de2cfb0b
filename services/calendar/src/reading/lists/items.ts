import type { CalendarEvent } from '@restante/contracts/resources'
import type { Queryable } from '@restante/service/database'
import { dateAt } from '../../dates/index.ts'
import { dateDocument, eventDocument, itemOf } from '../../documents/index.ts'
import type { CalendarInbox } from '../store/inbox.ts'
import { loadItems } from '../store/items.ts'
import type { Found } from './found-dates.ts'

/** The items that are shown of dates, in their order. The dates were found in the same snapshot of the database. */
export async function itemsOf(on: Queryable, inbox: CalendarInbox, found: readonly Found[]): Promise<CalendarEvent[]> {
  const wanted = found.flatMap(({ state, date }) => (date ? [{ eventId: state.event.id, slot: date.slot }] : []))
  const states = await loadItems(on, inbox, wanted)
  const options = { address: inbox.address, etag: false }
  return found.flatMap(({ state: outline, date: { slot } = {} }) => {
    if (slot === undefined) return [itemOf(eventDocument(outline, options))]
    const state = states.get(outline.event.id)
    const date = state && dateAt(state, slot)
    return state && date ? [itemOf(dateDocument(state, date, options))] : []
  })
}
