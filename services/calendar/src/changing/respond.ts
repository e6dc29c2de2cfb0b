import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { RespondBody } from '@restante/contracts/operations'
import type { CalendarMutation } from '@restante/contracts/resources'
import { ApiError } from '@restante/service/errors'
import type { IfMatch } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { dateAt } from '../dates/index.ts'
import { dateDocument, etagOfDate, etagOfEvent, eventDocument, requireMatch } from '../documents/index.ts'
import type { EventState } from '../model/rows.ts'
import { referenceOf, requireDate } from './find-date.ts'
import { phaseOf } from './rules/phase.ts'
import { type ChangingDeps, causeOf, mailChange, type Prepared, runChange } from './run-change.ts'
import { recordResponse } from './writes.ts'

export interface Response {
  readonly caller: Caller
  readonly id: string
  readonly body: RespondBody
  readonly ifMatch: IfMatch | undefined
}

/** Answers an invitation, for all dates or for one (calendar 9). */
export async function respond(deps: ChangingDeps, response: Response): Promise<CalendarMutation> {
  const { caller, id, body } = response
  const { eventId, slot } = referenceOf(id)
  const isSent = body.send_reply !== false
  const operationId = randomUUID()
  return runChange(deps, { caller, chargeId: operationId, eventId, isSent }, (state, now) =>
    prepare(deps, { ...response, slot, isSent, operationId }, state, now),
  )
}

interface Responding extends Response {
  readonly slot: string | undefined
  readonly isSent: boolean
  readonly operationId: string
}

function prepare(
  deps: ChangingDeps,
  { caller, body, ifMatch, slot, isSent, operationId }: Responding,
  state: EventState,
  now: Date,
): Prepared<CalendarMutation> {
  const { event } = state
  const { address } = requireInbox(caller)
  const { status } = body
  const comment = body.comment === '' ? undefined : body.comment
  const date = slot === undefined ? undefined : requireDate(state, slot, now)
  requireMatch(ifMatch, slot === undefined ? etagOfEvent(event) : etagOfDate(state, slot), event.revision)
  const oneOff = dateAt(state, '')
  if (oneOff && phaseOf(oneOff, now) === 'expired') throw new ApiError('event_expired')
  requireAnswerable(state, date ?? event, address)
  return {
    recipients: isSent && event.organizer_email !== null ? [event.organizer_email] : [],
    async write(tx) {
      const given = { email: address, slot, status, comment, respondedAt: now }
      const after = await recordResponse(tx, deps, state, given, causeOf(caller, operationId, now))
      if (isSent) await mailChange(tx, deps, caller, { kind: 'reply', state: after, slot, status, comment }, now)
      const shown = slot === undefined ? undefined : dateAt(after, slot)
      const options = { address, etag: true }
      const document = shown === undefined ? eventDocument(after, options) : dateDocument(after, shown, options)
      return { event: document, operation_id: operationId }
    },
  }
}

/** @throws ApiError 409 unless somebody else has invited the inbox to something that takes place (calendar 9). */
function requireAnswerable(
  { event }: EventState,
  { attendees, status }: Pick<EventState['event'], 'attendees' | 'status'>,
  address: string,
): void {
  const isInvited = event.source === 'email' && attendees.some(({ email }) => email === address)
  if (!isInvited) throw new ApiError('calendar_response_invalid', { message: 'The inbox was not invited by mail' })
  if (status === 'cancelled') throw new ApiError('calendar_response_invalid', { message: 'The event was cancelled' })
}
