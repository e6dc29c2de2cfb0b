import type { Caller } from '@restante/contracts/access'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { holdCalendar } from '../calendars/owner.ts'
import { type Invitations, leavesInbox, mailedAttendees, mailsFor, type SentChange } from '../invitations/out/index.ts'
import type { EventState } from '../model/rows.ts'
import { loadState, stampEvent } from '../store/index.ts'
import type { Cause, WriteDeps } from './writes.ts'

export interface ChangingDeps extends WriteDeps {
  readonly db: Database
  readonly invitations: Invitations
}

/** A request that changes an event that exists. */
export interface ChangeRequest {
  readonly caller: Caller
  /** Counts each recipient once, however often the request is tried. */
  readonly chargeId: string
  readonly eventId: string
  /** Whether somebody is mailed. */
  readonly isSent: boolean
}

/** A change that the state of its event allows. */
export interface Prepared<Result> {
  /** Addresses to which the change is mailed, and that are charged. */
  readonly recipients: readonly string[]
  write(tx: Tx): Promise<Result>
}

/** A change that finds another one made meanwhile is tried this often (calendar 13.1). */
const ATTEMPTS = 2

/**
 * Changes an event under its lock. What is mailed is charged before, without any lock; then the event must not have
 * changed meanwhile. Another attempt charges for whoever was added by then.
 * @param prepare checks the change against the state at a time, and throws what refuses it. It may be called several times.
 * @throws ApiError 404 without such an event; 409 `race_condition` when others change it each time.
 */
export async function runChange<Result>(
  { db, invitations }: Pick<ChangingDeps, 'db' | 'invitations'>,
  { caller, chargeId, eventId, isSent }: ChangeRequest,
  prepare: (state: EventState, now: Date) => Prepared<Result>,
): Promise<Result> {
  const { uid } = requireInbox(caller)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = isSent ? required(await loadState(db, uid, eventId)) : undefined
    if (seen) await invitations.charge(caller, chargeId, prepare(seen, new Date()).recipients)
    const done = await db.transaction(async (tx) => {
      await holdCalendar(tx, caller, isSent)
      const state = required(await loadState(tx, uid, eventId, { lock: true }))
      if (seen && !isSame(seen, state)) return undefined
      return { result: await prepare(state, new Date()).write(tx) }
    })
    if (done) return done.result
  }
  throw new ApiError('race_condition')
}

function required(state: EventState | undefined): EventState {
  if (state === undefined) throw notFound('Event')
  return state
}

function isSame({ event: a }: EventState, { event: b }: EventState): boolean {
  return a.revision === b.revision && a.edits_revision === b.edits_revision
}

/** The cause of a change by a request. */
export function causeOf(caller: Caller, operationId: string, at: Date): Cause {
  return { operationId, at, address: requireInbox(caller).address }
}

/** Who is mailed about an event with these attendees. */
export function addressesOf(caller: Caller, attendees: Parameters<typeof mailedAttendees>[0]): string[] {
  return mailedAttendees(attendees, requireInbox(caller).address).map(({ email }) => email)
}

/** Only what was made here can be mailed to attendees (calendar 14.1). @throws ApiError 409 */
export function requireOwn({ event }: Pick<EventState, 'event'>): void {
  if (event.source !== 'email') return
  throw new ApiError('calendar_response_invalid', {
    message: 'Only its organizer can mail an invitation or its cancellation',
  })
}

type Unsent<Change> = Change extends unknown ? Omit<Change, 'address' | 'displayName' | 'at'> : never

/** Queues the mails about a change, in its transaction; from a paused inbox none leave. */
export async function mailChange(
  tx: Tx,
  { invitations }: Pick<ChangingDeps, 'invitations'>,
  caller: Caller,
  change: Unsent<SentChange>,
  at: Date,
): Promise<void> {
  if (!leavesInbox(caller)) return
  const { address, display_name: displayName } = requireInbox(caller)
  const stampedAt = 'after' in change ? await stampEvent(tx, change.after.event, at) : at
  await invitations.queue(tx, mailsFor({ ...change, address, displayName, at: stampedAt }), caller.take_overs ?? 0)
}
