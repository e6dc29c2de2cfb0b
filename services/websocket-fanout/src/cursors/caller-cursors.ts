import type { Caller } from '@restante/contracts/access'
import { ApiError } from '@restante/service/errors'
import type { Place, StreamCursors } from './stream-cursors.ts'

/** What a client does whose cursor leads nowhere: the log does not hold what it missed. */
const RECONCILE =
  'Begin without a cursor, then list what you missed with GET /v0/inboxes/{inbox_id}/messages?after=<time of your last event>.'

/**
 * The scope for which cursors of a caller are valid: what its key reaches, since the last take-over (identity 5.1). Keys
 * of one scope can use each other's cursors, so that a key can be replaced.
 */
export function cursorScope({ organization_id, pod_id, inbox, credential, take_overs = 0 }: Caller): string {
  const { tier } = credential
  const within = tier === 'organization' ? '' : tier === 'pod' ? (pod_id ?? '') : (inbox?.uid ?? '')
  return JSON.stringify([organization_id, take_overs, tier, within])
}

/**
 * Opens the cursor that a client gave.
 * @param member the name of the member or parameter that it was given in.
 * @throws ApiError 400 at that member for one that was altered, or not issued for the scope of the key.
 */
export function openCursor(cursors: StreamCursors, caller: Caller, cursor: string, member: string): Place {
  const place = cursors.open(cursorScope(caller), cursor)
  if (place !== undefined) return place
  throw refuse(
    member,
    'This cursor is not valid for this key',
    `A cursor is valid for keys of the organization, pod or inbox that it was issued for, and until the organization is taken over. ${RECONCILE}`,
  )
}

/**
 * @param extent where the log is complete.
 * @throws ApiError 400 for a cursor after which entries have left the log, or that is beyond its end.
 */
export function requireInLog(
  { position }: Place,
  extent: { readonly through: bigint; readonly last: bigint },
  member: string,
): void {
  if (position >= extent.through && position <= extent.last) return
  throw refuse(member, 'This cursor is older than the log, which keeps events for 24 hours', RECONCILE)
}

function refuse(member: string, message: string, fix: string): ApiError {
  return new ApiError('validation_error', { message, fix, errors: [{ path: [member], message }] })
}
