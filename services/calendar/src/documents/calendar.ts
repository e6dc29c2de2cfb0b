import type { Calendar } from '@restante/contracts/resources'
import type { CalendarRow } from '../model/rows.ts'
import { etagOfCalendar } from './etags.ts'

/** What is shown of a calendar, whether it has a row or not. */
export type ShownCalendar = Pick<
  CalendarRow,
  'address' | 'timezone' | 'revision' | 'event_count' | 'created_at' | 'updated_at'
>

/** The calendar of an inbox that was never changed: it is as old as the inbox (calendar 1). */
export function newCalendar(inbox: { readonly address: string; readonly created_at: Date }): ShownCalendar {
  const { address, created_at } = inbox
  return { address, timezone: 'UTC', revision: 0, event_count: 0, created_at, updated_at: created_at }
}

/** The public document of a calendar (calendar 3.1). */
export function calendarDocument(calendar: ShownCalendar): Calendar {
  return {
    inbox_id: calendar.address,
    timezone: calendar.timezone,
    event_count: calendar.event_count,
    created_at: calendar.created_at.toISOString(),
    updated_at: calendar.updated_at.toISOString(),
    etag: etagOfCalendar(calendar),
  }
}
