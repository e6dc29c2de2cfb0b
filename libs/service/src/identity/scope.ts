import type { Caller, CallerInbox } from '@restante/contracts/access'
import { notFound } from '../errors/api-error.ts'

/** The part of an organization that a query may read or change: all of it, one pod, or one inbox. */
export interface ScopeFilter {
  readonly organizationId: string
  /** Narrows to one pod. */
  readonly podId: string | undefined
  /** Narrows to one inbox. */
  readonly inboxUid: string | undefined
}

/** Where a row lies in the tree of organization, pod and inbox. */
export interface Located {
  readonly organizationId: string
  /** Null: the row belongs to the organization itself. */
  readonly podId: string | null
  /** Null: the row belongs to the pod or to the organization itself. */
  readonly inboxUid: string | null
}

/** The effective scope of a request, as the path and the credential narrow it (identity 3.1): the filter of every query. */
export function scopeFilter(caller: Caller): ScopeFilter {
  return { organizationId: caller.organization_id, podId: caller.pod_id, inboxUid: caller.inbox?.uid }
}

/**
 * The whole organization, whatever the scope of the request. For rules that hold in all of it, such as a `client_id` that
 * is unique there: what is found this way must not be shown before `isInScope` has admitted it.
 */
export function organizationScope(organizationId: string): ScopeFilter {
  return { organizationId, podId: undefined, inboxUid: undefined }
}

/** Whether a row lies in a scope. An inbox stays in its pod for good, so an inbox's scope needs no look at the pod. */
export function isInScope(scope: ScopeFilter, row: Located): boolean {
  if (row.organizationId !== scope.organizationId) return false
  if (scope.inboxUid !== undefined) return row.inboxUid === scope.inboxUid
  return scope.podId === undefined || row.podId === scope.podId
}

/**
 * The inbox of an operation that exists below an inbox only. The gateway resolves it before it forwards a request.
 * @throws ApiError 404 where the caller names none.
 */
export function requireInbox(caller: Caller): CallerInbox {
  if (!caller.inbox) throw notFound('Inbox')
  return caller.inbox
}
