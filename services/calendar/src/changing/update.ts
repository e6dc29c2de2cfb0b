import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { UpdateEventBody } from '@restante/contracts/operations'
import type { CalendarMutation } from '@restante/contracts/resources'
import type { EditMode } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import type { IfMatch } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { type CalendarDate, dateAt, instantsOf } from '../dates/index.ts'
import { dateDocument, etagOfDate, etagOfEvent, eventDocument, requireMatch } from '../documents/index.ts'
import type { EventState } from '../model/rows.ts'
import { referenceOf, requireDate } from './find-date.ts'
import { editedEnd, readDateEdit, readMode, requireDateFields } from './rules/date-change.ts'
import { described, readEventChange, requireFields } from './rules/event-change.ts'
import { requireAllowed } from './rules/phase.ts'
import {
  addressesOf,
  type ChangingDeps,
  causeOf,
  mailChange,
  type Prepared,
  requireOwn,
  runChange,
} from './run-change.ts'
import { changeEvent, type DateEdit, editDate as edited, effectOf, effectOfEdit } from './transitions/index.ts'
import { type EventChange, editDate, updateEvent as storeChange } from './writes.ts'

export interface Update {
  readonly caller: Caller
  readonly id: string
  readonly mode: string | undefined
  readonly body: UpdateEventBody
  readonly ifMatch: IfMatch | undefined
}

/** What an update has in common for events and dates. */
interface Updating extends Update {
  readonly operationId: string
  readonly isSent: boolean
}

/**
 * Changes an event, one of its dates, or one and all later ones (calendar 6).
 * @throws ApiError as calendar 19 lists them.
 */
export async function updateEvent(deps: ChangingDeps, update: Update): Promise<CalendarMutation> {
  const { caller, id, body } = update
  const { eventId, slot } = referenceOf(id)
  const mode = readMode(update.mode, slot)
  requireFields(body)
  // What is wrong in itself is refused whatever the state is.
  described(body)
  if (slot !== undefined) requireDateFields(body)
  const updating: Updating = { ...update, operationId: randomUUID(), isSent: body.send_invites === true }
  const request = { caller, chargeId: updating.operationId, eventId, isSent: updating.isSent }
  return runChange(deps, request, (state, now) =>
    slot === undefined
      ? prepareEvent(deps, updating, state, now)
      : prepareDate(deps, updating, { state, slot, mode }, now),
  )
}

function prepareEvent(
  deps: ChangingDeps,
  { caller, body, ifMatch, operationId, isSent }: Updating,
  state: EventState,
  now: Date,
): Prepared<CalendarMutation> {
  const { event } = state
  const cause = causeOf(caller, operationId, now)
  requireMatch(ifMatch, etagOfEvent(event), event.revision)
  const change = readEventChange(body, state)
  const effect = effectOf(event, change)
  const date = dateAt(state, '')
  if (date) requireAllowedOneOff(state, date, change, now)
  if (isSent) requireOwn(state)
  if (effect !== 'none') changeEvent(state, change, cause)
  return {
    recipients: isSent ? addressesOf(caller, change.attendees ?? event.attendees) : [],
    async write(tx) {
      const after = effect === 'none' ? state : await storeChange(tx, deps, state, change, cause)
      if (isSent) await mailChange(tx, deps, caller, { kind: 'event', before: state, after }, now)
      return { event: eventDocument(after, { address: cause.address, etag: true }), operation_id: operationId }
    },
  }
}

function requireAllowedOneOff({ event }: EventState, date: CalendarDate, change: EventChange, now: Date): void {
  const { start_at, end_at } = instantsOf({ ...event, ...change })
  const becomesSeries = change.rule !== undefined && change.rule !== null
  const isMoved = start_at.getTime() !== date.start_at.getTime() || (change.start ?? event.start) !== event.start
  requireAllowed(date, { effect: effectOf(event, change), movesStart: becomesSeries || isMoved, end_at }, now)
}

interface DateOfState {
  readonly state: EventState
  readonly slot: string
  readonly mode: EditMode
}

function prepareDate(
  deps: ChangingDeps,
  { caller, body, ifMatch, operationId, isSent }: Updating,
  { state, slot, mode }: DateOfState,
  now: Date,
): Prepared<CalendarMutation> {
  const { address } = requireInbox(caller)
  const cause = causeOf(caller, operationId, now)
  const date = requireDate(state, slot, now)
  requireMatch(ifMatch, etagOfDate(state, slot), state.event.revision)
  const fields = readDateEdit(body, date, mode)
  const effect = effectOfEdit(date, fields)
  const movesStart = fields.start !== undefined && fields.start !== date.start
  requireAllowed(date, { effect, movesStart, end_at: editedEnd(date, fields) }, now)
  if (isSent) requireOwn(state)
  const edit: DateEdit = { slot, mode, fields, isSent }
  if (effect !== 'none') edited(state, edit, cause)
  return {
    recipients: isSent ? addressesOf(caller, fields.attendees ?? date.attendees) : [],
    async write(tx) {
      const after = effect === 'none' ? state : await editDate(tx, deps, state, edit, cause)
      if (isSent) await mailChange(tx, deps, caller, { kind: 'date', mode, slot, before: state, after }, now)
      const shown = dateAt(after, slot)
      if (shown === undefined) throw new ApiError('event_expired')
      return { event: dateDocument(after, shown, { address, etag: true }), operation_id: operationId }
    },
  }
}
