import type { RequestOf } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { KeysetPage } from '@restante/service/http'
import { dateAt } from '../dates/index.ts'
import { dateDocument, eventDocument } from '../documents/index.ts'
import type { EventsPage, ListDeps } from './lists/agenda.ts'
import { listStoredKeys, loadWhole } from './store/events.ts'
import type { CalendarInbox } from './store/inbox.ts'

/** The stored events of a calendar and its individually edited dates, with all that is written about them (calendar 8). */
export async function listStoredEvents(
  { db, cursors }: ListDeps,
  inbox: CalendarInbox,
  { consistency: _, expand: __, ...query }: RequestOf<'calendarEvents.list'>['query'],
): Promise<EventsPage> {
  // The window changes nothing here; a token is bound to it all the same (calendar 8).
  const page = new KeysetPage(cursors, { operation: 'calendarEvents.list', within: inbox.uid, query })
  const options = { address: inbox.address, etag: false }
  return db.transaction(
    async (tx) => {
      const keys = await listStoredKeys(tx, inbox.uid, page.after, page.take)
      const { items, members } = page.answer(
        keys,
        ({ updated_at: time, id }) => ({ time, id }),
        ({ event_id: eventId, slot }) => ({ eventId, slot }),
      )
      const states = await loadWhole(tx, inbox.uid, items)
      const events = items.flatMap(({ eventId, slot }) => {
        const state = states.get(eventId)
        if (state === undefined) return []
        if (slot === '') return [eventDocument(state, options)]
        const date = dateAt(state, slot)
        return date ? [dateDocument(state, date, options)] : []
      })
      return { ...members, count: events.length, limit: members.limit ?? LIMITS.page.default, events }
    },
    { isolation: 'repeatable read' },
  )
}
