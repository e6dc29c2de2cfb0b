import type { Caller } from '@restante/contracts/access'
import type { Database } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { Cursors, Handlers, ServiceClient } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { freeBusy } from './free-busy/free-busy.ts'
import { getEvent } from './get-event.ts'
import { listAgenda } from './lists/agenda.ts'
import { listInstances } from './lists/instances.ts'
import { type CalendarInbox, inboxOf } from './store/inbox.ts'
import { listStoredEvents } from './stored-events.ts'
import { windowOf } from './window/window.ts'

export interface ReadingDeps {
  readonly db: Database
  readonly cursors: Cursors
  readonly gateway: ServiceClient<'calendar'>
}

type Reading = Pick<
  Handlers<'calendar'>,
  | 'calendarEvents.list'
  | 'calendarEvents.agenda'
  | 'calendarEvents.listInstances'
  | 'calendarEvents.get'
  | 'calendars.freeBusy'
  | 'calendars.compareFreeBusy'
>

/** Lists of events and dates, single ones, and free time (calendar 8). */
export function readingRoutes(deps: ReadingDeps): Reading {
  const { db, gateway } = deps
  return {
    'calendarEvents.list': ({ caller, query }) =>
      query.expand === true ? listAgenda(deps, inboxOf(caller), query) : listStoredEvents(deps, inboxOf(caller), query),

    'calendarEvents.agenda': ({ caller, query }) => listAgenda(deps, inboxOf(caller), query),

    'calendarEvents.listInstances': ({ caller, params, query }) =>
      listInstances(deps, inboxOf(caller), params.event_id, query),

    'calendarEvents.get': ({ caller, params }) => getEvent(db, inboxOf(caller), params.event_id),

    'calendars.freeBusy': async ({ caller, query }) => {
      const inbox = inboxOf(caller)
      const window = windowOf(query, new Date())
      const [busy = []] = await freeBusy(db, [inbox], window)
      return { inbox_id: inbox.address, ...onWire(window), busy }
    },

    'calendars.compareFreeBusy': async ({ caller, body }) => {
      const window = windowOf(body, new Date())
      const inboxes = await findInboxes(gateway, caller, body.inbox_ids)
      const busy = await freeBusy(db, inboxes, window)
      return {
        ...onWire(window),
        inboxes: inboxes.map(({ address }, index) => ({ inbox_id: address, busy: busy[index] ?? [] })),
      }
    },
  }
}

function onWire({ after, before }: { readonly after: Date; readonly before: Date }) {
  return { after: after.toISOString(), before: before.toISOString() }
}

/** The inboxes that a request names, in its order. @throws ApiError 404 for one that its key cannot see. */
async function findInboxes(
  gateway: ServiceClient<'calendar'>,
  caller: Caller,
  ids: readonly string[],
): Promise<CalendarInbox[]> {
  const { organizationId, podId, inboxUid } = scopeFilter(caller)
  // Addresses are compared without case, client_ids with it (identity 1.1).
  const asked = ids.map((id) => (id.includes('@') ? id.toLowerCase() : id))
  const { inboxes } = await gateway.call('gateway.lookupInboxes', {
    organization_id: organizationId,
    ...(podId !== undefined && { pod_id: podId }),
    ...(inboxUid !== undefined && { inbox_uid: inboxUid }),
    inboxes: [...new Set(asked)],
    pods: [],
  })
  const found = new Map(inboxes.map(({ given, inbox_uid: uid, address }) => [given, { uid, address }]))
  return asked.map((id) => {
    const inbox = found.get(id)
    if (inbox === undefined) throw notFound('Inbox')
    return inbox
  })
}
