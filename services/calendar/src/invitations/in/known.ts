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
  const id = await findByUid(on, owner.inboxUid, uid)
  return id === undefined ? undefined : loadState(on, owner.inboxUid, id, { lock: true })
}

/** Whether the author of a mail may say what becomes of an event: only whoever organizes it. */
export function refusalOf(file: ReadFile, known: EventState | undefined, { from }: Arrival): Ignored | undefined {
  const isBy = (address: string | null | undefined) => address != null && sameAuthor(address, from)
  if (!file.events.every(({ organizer }) => isBy(organizer))) return 'wrong_sender'
  if (known === undefined) return undefined
  if (known.event.source === 'api') return 'own_event'
  return isBy(known.event.organizer_email) ? undefined : 'wrong_organizer'
}

export function sameAuthor(a: string, b: string): boolean {
  return normalizeAddress(a) === normalizeAddress(b)
}

/** The original start of the date that a VEVENT is about, on the clock of its series. */
export function slotOf({ recurrenceId }: ReadEvent, { event }: EventState, { context }: Arrival): string | undefined {
  return recurrenceId && localOf(recurrenceId, event, context)
}
