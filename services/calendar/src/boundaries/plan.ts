import type { CalendarEvent } from '@restante/contracts/resources'
import { begunRow, type CalendarDate, endOf } from '../dates/index.ts'
import { boundaryInstant, dateDocument, forBoundary } from '../documents/index.ts'
import { datedId } from '../model/dated-id.ts'
import type { BegunDateRow, EventState } from '../model/rows.ts'
import type { Due } from './due.ts'

/** A start or an end that is told. */
export interface Boundary {
  readonly type: 'calendar.event.starting' | 'calendar.event.ending'
  /** The same whenever it is told, so that repetitions are noticed (calendar 17). */
  readonly id: string
  readonly document: CalendarEvent
  readonly scheduledAt: Date
}

/** What is to be recorded, and told, of what is due. */
export interface Plan {
  readonly boundaries: readonly Boundary[]
  /** Dates that have begun. */
  readonly begun: readonly BegunDateRow[]
  /** Slots of dates that ran and have ended. */
  readonly ended: readonly string[]
  /** The event afterwards. */
  readonly after: EventState
}

export interface Setting {
  /** Of the inbox. */
  readonly address: string
  /** Without access to calendars nothing is told (calendar 1), also not when it is back. */
  readonly hasAccess: boolean
  readonly now: Date
}

export function planOf(state: EventState, { started, skipped, ended }: Due, setting: Setting): Plan {
  const { hasAccess, now, address } = setting
  const running = started.map((date) =>
    beginning(state, date, { address, as: hasAccess ? (date.end_at <= now ? 'ended' : 'running') : 'skipped' }),
  )
  const missed = skipped.map((date) => beginning(state, date, { address, as: 'skipped' }))
  const over = [...ended, ...running.filter((row) => row.state === 'ended')]
  const told = hasAccess ? [...running.map(startOf), ...over.map(endingOf)] : []
  const begun = [...running, ...missed]
  const before = state.begun.map((row): BegunDateRow => (ended.includes(row) ? { ...row, state: 'ended' } : row))
  const slots = ended.map(({ slot }) => slot)
  return { boundaries: told, begun, ended: slots, after: { ...state, begun: [...before, ...begun] } }
}

function beginning(
  state: EventState,
  date: CalendarDate,
  { address, as }: { readonly address: string; readonly as: BegunDateRow['state'] },
): BegunDateRow {
  const snapshot = as === 'skipped' ? null : forBoundary(dateDocument(state, date, { address, etag: false }))
  return begunRow(state.event, date, { state: as, snapshot })
}

function startOf(date: BegunDateRow): Boundary {
  return {
    type: 'calendar.event.starting',
    id: `${idOf(date)}.start`,
    document: shownOf(date),
    scheduledAt: date.start_at,
  }
}

function endingOf(date: BegunDateRow): Boundary {
  return { type: 'calendar.event.ending', id: `${idOf(date)}.end`, document: shownOf(date), scheduledAt: date.end_at }
}

function idOf({ event_id, slot }: BegunDateRow): string {
  return slot === '' ? `${event_id}_single` : datedId(event_id, slot)
}

/** The date as at its start, with the end that it has by now. Its snapshot was written here. */
function shownOf(date: BegunDateRow): CalendarEvent {
  return {
    ...(date.snapshot as CalendarEvent),
    end: endOf(date),
    duration_mode: date.duration_mode,
    duration_value: date.duration_value,
    end_at: boundaryInstant(date.end_at),
  }
}
