import { sql, type Tx } from '@restante/service/database'
import type { EventState } from '../model/rows.ts'
import { loadState } from '../store/index.ts'

interface Found {
  readonly inbox_uid: string
  readonly address: string
}

// Changes lock the event and then its timer; an attempt holds its timer and must not wait for the event.
const LOCK = sql<Found, [id: string]>(`
select events.inbox_uid, calendars.address
  from events join calendars on calendars.inbox_uid = events.inbox_uid and calendars.organization_id = events.organization_id
 where events.id = $1 for update of events skip locked`)

const EXISTS = sql<{ id: string }, [id: string]>('select id from events where id = $1')

/** An event and the address of its inbox. */
export interface LockedEvent {
  readonly state: EventState
  readonly address: string
}

/**
 * Locks an event, unless a change holds it, and reads what is stored of it. A timer knows only the event.
 * @returns `locked` when a change holds it; undefined when it is gone.
 */
export async function lockEvent(tx: Tx, id: string): Promise<LockedEvent | 'locked' | undefined> {
  const [found] = await tx.query(LOCK, id)
  if (found === undefined) return (await tx.query(EXISTS, id)).length > 0 ? 'locked' : undefined
  const state = await loadState(tx, found.inbox_uid, id)
  return state && { state, address: found.address }
}
