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
import { requireSound } from './rules/body.ts'
import { editedEnd, readDateEdit, readMode } from './rules/date-change.ts'
import { readEventChange } from './rules/event-change.ts'
import { phaseOf, requireAllowed } from './rules/phase.ts'
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
  requireSound(body, slot)
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
  const date = gatedDate(state, change, now)
  if (date) requireAllowedOneOff(state, date, change, now)
  if (isSent) requireOwn(state)
  const changed = effect === 'none' ? state : changeEvent(state, change, cause)
  return {
    recipients: isSent ? addressesOf(caller, change.attendees ?? event.attendees) : [],
    async write(tx) {
      if (effect !== 'none') await storeChange(tx, deps, state, change, cause, changed)
      if (isSent) await mailChange(tx, deps, caller, { kind: 'event', before: state, after: changed }, now)
      return { event: eventDocument(changed, { address: cause.address, etag: true }), operation_id: operationId }
    },
  }
}

/**
 * The date of a one-off, which gates a change of it. Dates of a series that have begun stay as they ran and gate none; but when
 * it becomes a one-off, its first date is what is left, and it gates while it runs.
 */
function gatedDate(state: EventState, change: EventChange, now: Date): CalendarDate | undefined {
  if (state.event.kind === 'single') return dateAt(state, '')
  const first = change.rule === null ? dateAt(state, state.event.start) : undefined
  return first && ['starting', 'running'].includes(phaseOf(first, now)) ? first : undefined
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
  const after = effect === 'none' ? state : edited(state, edit, cause)
  return {
    recipients: isSent ? addressesOf(caller, fields.attendees ?? date.attendees) : [],
    async write(tx) {
      if (effect !== 'none') await editDate(tx, deps, state, edit, cause, after)
      if (isSent) await mailChange(tx, deps, caller, { kind: 'date', mode, slot, before: state, after }, now)
      const shown = dateAt(after, slot)
      if (shown === undefined) throw new ApiError('event_expired')
      return { event: dateDocument(after, shown, { address, etag: true }), operation_id: operationId }
    },
  }
}
