import type { Caller } from '@restante/contracts/access'
import type { Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { requireInbox } from '@restante/service/identity'
import { holdScopes } from '@restante/tenancy'
import type { CalendarOwner } from '../store/index.ts'
import { takeOvers } from '../take-overs/table.ts'

/** The calendar that a request is about. @throws ApiError 404 where the caller names no inbox. */
export function ownerOf(caller: Caller): CalendarOwner {
  const { uid: inboxUid, pod_id: podId, address, created_at: created } = requireInbox(caller)
  const createdAt = created === undefined ? undefined : new Date(created)
  return { organizationId: caller.organization_id, podId, inboxUid, address, createdAt }
}

/**
 * The calendar that a request changes. Until the transaction ends, its inbox is not marked deleted, because the purge would
 * miss what is committed after it, and no take-over that ends the caller's key is recorded.
 * @param isMailed whether the change is also mailed, for which there would be no sender.
 * @throws ApiError when the inbox is deleted by now: 404, or 409 of what is mailed (calendar 14.1); 401 for a key from before
 * a take-over.
 */
export async function holdCalendar(tx: Tx, caller: Caller, isMailed = false): Promise<CalendarOwner> {
  const owner = ownerOf(caller)
  if (!(await holdScopes(tx, [owner.inboxUid, owner.podId, owner.organizationId]))) {
    throw isMailed ? new ApiError('calendar_inbox_required') : notFound('Inbox')
  }
  await takeOvers.requireCurrent(tx, caller)
  return owner
}
