import { invalid, notFound } from '@restante/service/errors'
import { readEventId } from '../../model/dated-id.ts'
import type { CalendarInbox } from '../store/inbox.ts'
import { loadOutline } from '../store/outlines.ts'
import { Pace } from '../window/pace.ts'
import { type EventsPage, type ListDeps, membersOf } from './agenda.ts'
import { DatesPage, type DatesQuery } from './dates-page.ts'
import { requireFewDates } from './dates-within.ts'
import { datesFrom, type Found } from './found-dates.ts'
import { itemsOf } from './items.ts'

const NO_SERIES = 'Must be the id of a series, not of a single event or of one date'

/** The dates of one series within a window (calendar 8). A page is refused when the series has changed since the first. */
export async function listInstances(
  { db, cursors }: ListDeps,
  inbox: CalendarInbox,
  eventId: string,
  query: DatesQuery,
): Promise<EventsPage> {
  const reference = readEventId(eventId)
  if (reference === undefined) throw notFound('Event')
  if (reference.slot !== undefined) throw invalid(['event_id'], NO_SERIES)
  const within = [inbox.uid, reference.eventId]
  const page = new DatesPage(cursors, {
    operation: 'calendarEvents.listInstances',
    within,
    query,
    now: new Date(),
  })
  return db.transaction(
    async (tx) => {
      const state = await loadOutline(tx, inbox, page.range.window, reference.eventId)
      if (state === undefined) throw notFound('Event')
      if (state.event.kind === 'single') throw invalid(['event_id'], NO_SERIES)
      const version = `${state.event.revision}.${state.event.edits_revision}`
      page.requireVersion(version)
      if (page.isFirst) await requireFewDates([state], page.window, page.range.includeOverlapping, new Pace())
      const found: Found[] = []
      for (const date of datesFrom(state, page.range)) if (found.push(date) > page.limit) break
      const shown = found.slice(0, page.limit)
      return { ...membersOf(page, shown, found, version), events: await itemsOf(tx, inbox, shown) }
    },
    { isolation: 'repeatable read' },
  )
}
