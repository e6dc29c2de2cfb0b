import { normalizeAddress } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { ReadEvent, ReadFile } from '../../icalendar/read/index.ts'
import type { EventState } from '../../model/rows.ts'
import { findByUid, loadState } from '../../store/index.ts'
import type { Arrival, Ignored } from './mail.ts'
import { localOf } from './times.ts'

const LOCK = sql<never, [inboxUid: string, uid: string]>(
  `select pg_advisory_xact_lock(hashtextextended('invitation ' || $1 || ' ' || $2, 0))`,
)

/** Has the files about one event of a calendar be applied one after the other. */
export async function lockUid(tx: Tx, { owner }: Arrival, uid: string): Promise<void> {
  await tx.query(LOCK, owner.inboxUid, uid)
}

/** The event that a file is about, under its lock. */
export async function knownEvent(on: Queryable, { owner }: Arrival, uid: string): Promise<EventState | undefined> {
  const found = await findByUid(on, owner.inboxUid, uid)
  const whole = found.find(({ recurrence_id }) => recurrence_id === '')
  return whole && loadState(on, owner.inboxUid, whole.id, { lock: true })
}

/** Dates of an event that are known without it, under their locks. */
export async function loneDates(on: Queryable, { owner }: Arrival, uid: string): Promise<EventState[]> {
  const states: EventState[] = []
  for (const { id, recurrence_id } of await findByUid(on, owner.inboxUid, uid)) {
    const state = recurrence_id === '' ? undefined : await loadState(on, owner.inboxUid, id, { lock: true })
    if (state) states.push(state)
  }
  return states
}

/** By which a date of an unknown series is told from others: its original start in UTC, or its day. */
export function recurrenceKeyOf({ recurrenceId }: ReadEvent, { context }: Arrival): string | undefined {
  if (recurrenceId === undefined || !recurrenceId.wall.includes('T')) return recurrenceId?.wall
  return `${localOf(recurrenceId, { all_day: false, timezone: 'UTC', start: recurrenceId.wall }, context)}Z`
}

/**
 * Whether the author of a mail may say what becomes of events: only whoever organizes them.
 * @param known all that the file would change, replace or remove; none: it is new.
 */
export function refusalOf(file: ReadFile, known: readonly EventState[], { from }: Arrival): Ignored | undefined {
  const isBy = (address: string | null | undefined) => address != null && sameAuthor(address, from)
  if (!file.events.every(({ organizer }) => isBy(organizer))) return 'wrong_sender'
  if (known.some(({ event }) => event.source === 'api')) return 'own_event'
  return known.every(({ event }) => isBy(event.organizer_email)) ? undefined : 'wrong_organizer'
}

export function sameAuthor(a: string, b: string): boolean {
  return normalizeAddress(a) === normalizeAddress(b)
}

/** The original start of the date that a VEVENT is about, on the clock of its series. */
export function slotOf({ recurrenceId }: ReadEvent, { event }: EventState, { context }: Arrival): string | undefined {
  return recurrenceId && localOf(recurrenceId, event, context)
}
