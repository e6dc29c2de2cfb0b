import type { Caller, CallerInbox } from '@restante/contracts'
import { notFound } from '@restante/service'
import type { ScopeColumns } from './rows.ts'

/** The inbox of a request on an inbox's path; the gateway lets no such request through without one. */
export function inboxOf(caller: Caller): CallerInbox {
  if (!caller.inbox) throw notFound('Inbox')
  return caller.inbox
}

/** Whether a row lies in the scope that a request acts in. */
export function isInScope(caller: Caller, row: ScopeColumns): boolean {
  if (row.organization_id !== caller.organization_id) return false
  if (caller.inbox) return row.inbox_uid === caller.inbox.uid
  return caller.pod_id === undefined || row.pod_id === caller.pod_id
}
