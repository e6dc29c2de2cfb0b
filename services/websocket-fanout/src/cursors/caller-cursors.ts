import type { Caller } from '@restante/contracts/access'
import type { Tier } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import { type Scope, scopeOf } from '../subscriptions/subscriptions.ts'
import type { Place, StreamCursors } from './stream-cursors.ts'

/** What a client does whose cursor leads nowhere: the log does not hold what it missed. */
const RECONCILE =
  'Begin without a cursor, then list what you missed with GET /v0/inboxes/{inbox_id}/messages?after=<time of your last event>.'

/**
 * The scope for which cursors of a request are valid: the organization, pod or inbox that it is about, since the last
 * take-over (identity 5.1). It names no key, so that a key can be replaced, and an inbox can be followed with its own key
 * and with one of its organization.
 */
export function cursorScope(caller: Caller): string {
  const { organization_id, take_overs = 0 } = caller
  return JSON.stringify([organization_id, take_overs, ...namesOf(scopeOf(caller))])
}

/** These are part of every cursor: other ones would end those that clients have. */
function namesOf(scope: Scope): [tier: Tier, within: string] {
  switch (scope.kind) {
    case 'all':
      return ['organization', '']
    case 'pod':
      return ['pod', scope.podId]
    case 'inbox':
      return ['inbox', scope.inboxUid]
  }
}

/**
 * Opens the cursor that a client gave.
 * @param member the name of the member or parameter that it was given in.
 * @throws ApiError 400 at that member for one that was altered, or not issued for the scope of the request.
 */
export function openCursor(cursors: StreamCursors, caller: Caller, cursor: string, member: string): Place {
  const place = cursors.open(cursorScope(caller), cursor)
  if (place !== undefined) return place
  throw refuse(
    member,
    'This cursor is not valid for this key',
    `A cursor is valid for the organization, pod or inbox that it was issued for (that of the path, or else of the key), and until the organization is taken over. ${RECONCILE}`,
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
