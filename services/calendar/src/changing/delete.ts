import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { CalendarDeletion } from '@restante/contracts/resources'
import type { EditMode } from '@restante/contracts/vocabulary'
import { hashedUuid, type Tx } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { IfMatch } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { etagOfDate, etagOfEvent, requireMatch } from '../documents/index.ts'
import type { EventState } from '../model/rows.ts'
import { addDeletion, findDeletion } from '../store/index.ts'
import { referenceOf, requireDate } from './find-date.ts'
import { KeyTakenError } from './key-taken.ts'
import { readMode } from './rules/date-change.ts'
import { requireRemovable } from './rules/phase.ts'
import {
  addressesOf,
  type ChangingDeps,
  causeOf,
  mailChange,
  type Prepared,
  requireOwn,
  runChange,
} from './run-change.ts'
import { isFirstDate, removeDate as removed } from './transitions/index.ts'
import { type Cause, deleteEvent as deleteStored, removeDate } from './writes.ts'

export interface Deletion {
  readonly caller: Caller
  readonly id: string
  readonly mode: string | undefined
  readonly isSent: boolean
  readonly ifMatch: IfMatch | undefined
  readonly idempotencyKey: string | undefined
}

interface Deleting extends Pick<Deletion, 'caller' | 'isSent' | 'ifMatch'> {
  readonly operationId: string
  readonly slot: string | undefined
  readonly mode: EditMode
  /** The key under which the answer is kept. */
  readonly key: string
  readonly isNamed: boolean
  readonly request: string
}

/**
 * Deletes an event, takes a date out of its series, or ends the series before one (calendar 7). Repeated with the same key, or
 * within a minute without one, it has the same answer.
 */
export async function deleteEvent(deps: ChangingDeps, deletion: Deletion): Promise<CalendarDeletion> {
  const { caller, isSent, idempotencyKey, ifMatch } = deletion
  const { uid } = requireInbox(caller)
  const { eventId, slot } = referenceOf(deletion.id)
  const mode = readMode(deletion.mode, slot)
  const request = [uid, eventId, slot ?? '', mode, isSent].join(' ')
  const isNamed = idempotencyKey !== undefined
  const key = isNamed ? `key ${idempotencyKey}` : `request ${request}`
  const operationId = randomUUID()
  const deleting: Deleting = { caller, isSent, ifMatch, operationId, slot, mode, key, isNamed, request }
  const known = await findAnswer(deps, deleting)
  if (known) return known
  try {
    return await runChange(deps, { caller, chargeId: chargeIdOf(deleting), eventId, isSent }, (state, now) =>
      slot === undefined
        ? prepareDeletion(deps, deleting, state, now)
        : prepareRemoval(deps, { ...deleting, slot }, state, now),
    )
  } catch (error) {
    // A concurrent request with the same key has come first: its answer is that of both.
    const other = isGone(error) ? await findAnswer(deps, deleting) : undefined
    if (other) return other
    throw error instanceof KeyTakenError ? new ApiError('race_condition') : error
  }
}

/** The same for whatever has the same answer, also after a crash: a date can be taken out again, an event is deleted once. */
function chargeIdOf({ caller, operationId, slot, key, isNamed, request }: Deleting): string {
  const isOnce = isNamed || slot === undefined
  return isOnce ? hashedUuid(`delete ${caller.organization_id} ${key} ${request}`) : operationId
}

function isGone(error: unknown): boolean {
  return error instanceof KeyTakenError || (error instanceof ApiError && (error.status === 404 || error.status === 410))
}

async function findAnswer(
  { db }: ChangingDeps,
  { caller, key, request }: Deleting,
): Promise<CalendarDeletion | undefined> {
  const stored = await findDeletion(db, caller.organization_id, key)
  if (stored === undefined) return undefined
  if (stored.request !== request) throw new ApiError('idempotency_conflict')
  // It was stored by `remember`.
  return stored.answer as CalendarDeletion
}

async function remember(
  tx: Tx,
  { caller, key, isNamed, request, operationId }: Deleting,
  answer: CalendarDeletion,
): Promise<CalendarDeletion> {
  const of = { id: operationId, inboxUid: requireInbox(caller).uid, organizationId: caller.organization_id }
  if (!(await addDeletion(tx, of, { key, isNamed, request, answer }))) throw new KeyTakenError()
  return answer
}

function prepareDeletion(
  deps: ChangingDeps,
  deleting: Deleting,
  state: EventState,
  now: Date,
): Prepared<CalendarDeletion> {
  const { event } = state
  requireMatch(deleting.ifMatch, etagOfEvent(event), event.revision)
  if (deleting.isSent) requireOwn(state)
  return wholeDeletion(deps, deleting, state, causeOf(deleting.caller, deleting.operationId, now))
}

function wholeDeletion(
  deps: ChangingDeps,
  deleting: Deleting,
  state: EventState,
  cause: Cause,
): Prepared<CalendarDeletion> {
  const { caller, isSent, operationId } = deleting
  return {
    recipients: isSent ? addressesOf(caller, state.event.attendees) : [],
    async write(tx) {
      // The list of those who were invited is deleted with the event.
      if (isSent) await mailChange(tx, deps, caller, { kind: 'deleted', before: state }, cause.at)
      await deleteStored(tx, deps, state, cause)
      return remember(tx, deleting, { deletion_id: operationId })
    },
  }
}

function prepareRemoval(
  deps: ChangingDeps,
  deleting: Deleting & { readonly slot: string },
  state: EventState,
  now: Date,
): Prepared<CalendarDeletion> {
  const { caller, isSent, ifMatch, operationId, slot, mode, isNamed } = deleting
  const cause = causeOf(caller, operationId, now)
  const date = requireDate(state, slot, now)
  requireMatch(ifMatch, etagOfDate(state, slot), state.event.revision)
  requireRemovable(date, now)
  if (isSent) requireOwn(state)
  if (mode === 'future' && isFirstDate(state, slot)) return wholeDeletion(deps, deleting, state, cause)
  removed(state, { slot, mode }, cause)
  return {
    recipients: isSent ? addressesOf(caller, date.attendees) : [],
    async write(tx) {
      const { after, document } = await removeDate(tx, deps, state, { slot, mode }, cause)
      const change = { kind: 'date-cancelled', mode, slot, before: state, after } as const
      if (isSent) await mailChange(tx, deps, caller, change, now)
      const answer = { event: { ...document, etag: etagOfDate(after, slot) }, operation_id: operationId }
      return isNamed ? remember(tx, deleting, answer) : answer
    },
  }
}
