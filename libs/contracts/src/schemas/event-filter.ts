import { z } from 'zod'
import { EVENT_TYPES, type EventType, isEventType } from '../event-types.ts'
import { LIMITS } from '../limits.ts'
import { onWire } from './wire.ts'

/** Types to subscribe to, in request order, each once; an unknown one is named at its index (events 7.3). */
export const eventTypeList = onWire(
  z.array(z.string()).transform((names, context): EventType[] => {
    for (const [index, name] of names.entries()) {
      if (!isEventType(name))
        context.addIssue({ code: 'custom', path: [index], message: `Unknown event type: ${name}` })
    }
    return [...new Set(names.filter(isEventType))]
  }),
  { type: 'array', items: { type: 'string', enum: EVENT_TYPES } },
)

/** Ids of a filter, each once; addresses are folded as inbox ids are, aliases and pod ids are compared as they are. */
export const filterIds = onWire(
  z
    .array(z.string().min(1))
    .max(LIMITS.event.filterIds)
    .transform((ids) => [...new Set(ids.map((id) => (id.includes('@') ? id.toLowerCase() : id)))]),
  { type: 'array', maxItems: LIMITS.event.filterIds, items: { type: 'string' } },
)
