import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { type CreateEventBody, Replayed } from '@restante/contracts/operations'
import { hashedUuid } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { holdCalendar } from '../calendars/owner.ts'
import { eventDocument } from '../documents/index.ts'
import { addCreateKey, type CreateKey, findCreateKey, loadState, timezoneOf } from '../store/index.ts'
import { KeyTakenError } from './key-taken.ts'
import { hashOfBody, readNewEvent } from './rules/new-fields.ts'
import { addressesOf, type ChangingDeps, causeOf, mailChange } from './run-change.ts'
import { createEvent as storeEvent } from './writes.ts'

/**
 * Creates an event (calendar 5). A repeated `client_id` gives the event that was created with it.
 * @throws ApiError 400; 404 when that event was deleted; 409 for another body, or a full calendar; 429.
 */
export async function createEvent(deps: ChangingDeps, caller: Caller, body: CreateEventBody) {
  const { db, invitations } = deps
  const inbox = requireInbox(caller)
  const owner = { organizationId: caller.organization_id, inboxUid: inbox.uid }
  const fields = readNewEvent(body, await timezoneOf(db, owner))
  const { client_id: clientId } = body
  const operationId = randomUUID()
  const hash = clientId === undefined ? undefined : hashOfBody(body)
  const replay = async () => clientId !== undefined && hash !== undefined && replayed(deps, caller, { clientId, hash })
  const known = await replay()
  if (known) return known
  const isSent = body.send_invites === true && fields.attendees.length > 0
  if (isSent) {
    const chargeId = hash === undefined ? operationId : chargeIdOf(caller, clientId, hash)
    await invitations.charge(caller, chargeId, addressesOf(caller, fields.attendees))
  }
  const created = await db
    .transaction(async (tx) => {
      await holdCalendar(tx, caller, isSent)
      const cause = causeOf(caller, operationId, new Date())
      const state = await storeEvent(tx, deps, { ...fields, ...placeOf(caller) }, cause)
      if (clientId !== undefined && hash !== undefined) {
        const key: CreateKey = { hash, event_id: state.event.id, operation_id: operationId }
        if (!(await addCreateKey(tx, { ...owner, clientId }, key))) throw new KeyTakenError()
      }
      if (isSent) await mailChange(tx, deps, caller, { kind: 'event', after: state }, cause.at)
      return { event: eventDocument(state, { address: inbox.address, etag: true }), operation_id: operationId }
    })
    .catch((error: unknown) => {
      if (error instanceof KeyTakenError) return undefined
      throw error
    })
  if (created) return created
  const other = await replay()
  if (other) return other
  throw new ApiError('race_condition')
}

/** One for all requests with a `client_id`, also for one that comes after a crash: they are charged once. */
function chargeIdOf(caller: Caller, clientId: string | undefined, hash: Uint8Array): string {
  const of = [requireInbox(caller).uid, caller.take_overs ?? 0, clientId, Buffer.from(hash).toString('hex')]
  return hashedUuid(`create ${of.join(' ')}`)
}

function placeOf(caller: Caller) {
  const { uid, pod_id, address, created_at } = requireInbox(caller)
  return {
    organization_id: caller.organization_id,
    pod_id,
    inbox_uid: uid,
    inbox_created_at: created_at === undefined ? undefined : new Date(created_at),
    source: 'api',
    organizer_email: address,
    take_overs: caller.take_overs ?? 0,
  } as const
}

async function replayed(
  { db }: ChangingDeps,
  caller: Caller,
  { clientId, hash }: { readonly clientId: string; readonly hash: Uint8Array },
) {
  const { uid, address } = requireInbox(caller)
  const key = await findCreateKey(db, uid, clientId)
  if (key === undefined) return undefined
  if (!Buffer.from(key.hash).equals(hash)) throw new ApiError('idempotency_conflict')
  const state = await loadState(db, uid, key.event_id)
  if (state === undefined) throw notFound('Event')
  return new Replayed({ event: eventDocument(state, { address, etag: true }), operation_id: key.operation_id })
}
