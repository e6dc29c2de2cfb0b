import type { Handlers } from '@restante/service/http'
import { createEvent } from './create.ts'
import { deleteEvent } from './delete.ts'
import { respond } from './respond.ts'
import type { ChangingDeps } from './run-change.ts'
import { updateEvent } from './update.ts'

export type { ChangingDeps } from './run-change.ts'

type Changing = Pick<
  Handlers<'calendar'>,
  'calendarEvents.create' | 'calendarEvents.update' | 'calendarEvents.delete' | 'calendarEvents.respond'
>

/** Changes of events and of their dates (calendar 5, 6, 7, 9). */
export function changingRoutes(deps: ChangingDeps): Changing {
  return {
    'calendarEvents.create': ({ caller, body }) => createEvent(deps, caller, body),

    'calendarEvents.update': ({ caller, params, query, body, ifMatch }) =>
      updateEvent(deps, { caller, id: params.event_id, mode: query.mode, body, ifMatch }),

    'calendarEvents.delete': ({ caller, params, query, ifMatch, idempotencyKey }) =>
      deleteEvent(deps, {
        caller,
        id: params.event_id,
        mode: query.mode,
        isSent: query.send_invites === true,
        ifMatch,
        idempotencyKey,
      }),

    'calendarEvents.respond': ({ caller, params, body, ifMatch }) =>
      respond(deps, { caller, id: params.event_id, body, ifMatch }),
  }
}
