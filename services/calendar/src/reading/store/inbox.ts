import type { Caller } from '@restante/contracts/access'
import { requireInbox } from '@restante/service/identity'

/** The inbox whose calendar is read. */
export interface CalendarInbox {
  readonly uid: string
  readonly address: string
}

/** The inbox of a request. @throws ApiError 404 where the caller names none. */
export function inboxOf(caller: Caller): CalendarInbox {
  const { uid, address } = requireInbox(caller)
  return { uid, address }
}
