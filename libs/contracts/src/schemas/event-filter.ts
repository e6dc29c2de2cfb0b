import { z } from 'zod'
import { EVENT_TYPES, type EventType, isEventType } from '../event-types.ts'
import { LIMITS } from '../limits.ts'
import { stringList } from './text.ts'
import { onWire } from './wire.ts'

/** Types to subscribe to, in request order, each once; an unknown one is named at its index (events 7.3). */
export const eventTypeList = onWire(
  stringList(z.string(), LIMITS.event.filterTypes).transform((names, context): EventType[] => {
    for (const [index, name] of names.entries()) {
      if (isEventType(name)) continue
      const message = `Unknown event type: ${name.slice(0, SHOWN)}`
      context.addIssue({ code: 'custom', path: [index], message })
    }
    return [...new Set(names.filter(isEventType))]
  }),
  {
    anyOf: [
      { type: 'string', enum: EVENT_TYPES },
      { type: 'array', maxItems: LIMITS.event.filterTypes, items: { type: 'string', enum: EVENT_TYPES } },
    ],
  },
)

/** Characters of an unknown name that its refusal repeats. */
const SHOWN = 100

/** Ids of a filter, each once; addresses are folded as inbox ids are, aliases and pod ids are compared as they are. */
export const filterIds = onWire(
  stringList(z.string().min(1).max(LIMITS.event.filterId, { abort: true }), LIMITS.event.filterIds).transform((ids) => [
    ...new Set(ids.map((id) => (id.includes('@') ? id.toLowerCase() : id))),
  ]),
  {
    anyOf: [
      { type: 'string' },
      { type: 'array', maxItems: LIMITS.event.filterIds, items: { type: 'string', maxLength: LIMITS.event.filterId } },
    ],
  },
)
