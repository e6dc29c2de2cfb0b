import type { CalendarEvent } from '@restante/contracts/resources'
import type { Database } from '@restante/service/database'
import type { Cursors } from '@restante/service/http'
import type { CalendarInbox } from '../store/inbox.ts'
import { listOneOffs } from '../store/items.ts'
import { earliestStart, loadSeries } from '../store/outlines.ts'
import { Pace } from '../window/pace.ts'
import { DatesPage, type DatesQuery, type DatesRange } from './dates-page.ts'
import { requireFewDates } from './dates-within.ts'
import { FirstDates } from './first-dates.ts'
import { type Found, oneOff, sequenceOf } from './found-dates.ts'
import { itemsOf } from './items.ts'
import { merge } from './merge.ts'

/** Of all calendars that this process reads: what it knows follows from the rows that it is read with. */
const firstDates = new FirstDates()

export interface ListDeps {
  readonly db: Database
  readonly cursors: Cursors
}

/** A page of a list of events or dates. */
export interface EventsPage {
  readonly count: number
  readonly limit: number
  readonly next_page_token?: string | undefined
  readonly events: CalendarEvent[]
}

/**
 * Every date of a calendar within a window, the series expanded (calendar 8). Series are expanded side by side, and only as
 * far as the page goes; what is written about dates is read for those of the page alone.
 */
export async function listAgenda(
  { db, cursors }: ListDeps,
  inbox: CalendarInbox,
  query: DatesQuery,
): Promise<EventsPage> {
  const now = new Date()
  const page = new DatesPage(cursors, { operation: 'calendarEvents.agenda', within: inbox.uid, query, now })
  return db.transaction(
    async (tx) => {
      const rows = page.limit + 1
      const [series, oneOffs] = await Promise.all([
        loadSeries(tx, inbox, page.range.window),
        listOneOffs(tx, inbox, { ...oneOffsIn(page.range), rows }),
      ])
      const pace = new Pace()
      if (page.isFirst) await requireFewDates(series, page.window, page.range.includeOverlapping, pace)
      const sequences = [
        ...series.map((state) => sequenceOf(state, page.range, firstDates)),
        { atLeast: Number.NEGATIVE_INFINITY, elements: oneOffs.map(oneOff).values() },
      ]
      const found: Found[] = []
      for await (const date of merge(sequences, pace)) if (found.push(date) === rows) break
      const shown = found.slice(0, page.limit)
      return { ...membersOf(page, shown, found), events: await itemsOf(tx, inbox, shown) }
    },
    { isolation: 'repeatable read' },
  )
}

/** The members of a page of which the last date found is one too many, if more remain. */
export function membersOf(page: DatesPage, shown: readonly Found[], found: readonly Found[], version?: string) {
  const last = shown.length < found.length ? shown.at(-1) : undefined
  return page.members(shown.length, last && { at: new Date(last.at), id: last.id }, version)
}

function oneOffsIn({ window, includeOverlapping, position }: DatesRange) {
  const { after, before } = window
  const from = includeOverlapping ? earliestStart(after) : after
  const isFurther = position !== undefined && position.at > from
  return { from: isFurther ? position.at : from, before, endsAfter: after, position }
}
