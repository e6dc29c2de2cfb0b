import { z } from 'zod'
import { EVENT_TYPES, type EventType, isEventType } from '../access/event-types.ts'
import { onWire } from '../validation/wire.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { queryListWithoutCommas } from './query.ts'
import { stringList } from './text.ts'

/** Characters of an unknown name that its refusal repeats. */
const SHOWN = 100

function knownTypes(names: readonly string[], context: z.RefinementCtx): EventType[] {
  for (const [index, name] of names.entries()) {
    if (isEventType(name)) continue
    context.addIssue({ code: 'custom', path: [index], message: `Unknown event type: ${name.slice(0, SHOWN)}` })
  }
  return [...new Set(names.filter(isEventType))]
}

function foldedIds(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => (id.includes('@') ? id.toLowerCase() : id)))]
}

const id = z.string().min(1).max(LIMITS.event.filterId, { abort: true })

const oneType = { type: 'string', enum: EVENT_TYPES }
const typesOnWire = { type: 'array', maxItems: LIMITS.event.filterTypes, items: oneType }
const idsOnWire = {
  type: 'array',
  maxItems: LIMITS.event.filterIds,
  items: { type: 'string', maxLength: LIMITS.event.filterId },
}

/** Types to subscribe to, in request order, each once; an unknown one is named at its index (events 7.3). */
export const eventTypeList = onWire(stringList(z.string(), LIMITS.event.filterTypes).transform(knownTypes), {
  anyOf: [oneType, typesOnWire],
})

/** The same in a query string. */
export const queryEventTypes = onWire(
  queryListWithoutCommas.refine((names) => names.length <= LIMITS.event.filterTypes).transform(knownTypes),
  typesOnWire,
)

/** Ids of a filter, each once; addresses are folded as inbox ids are, aliases and pod ids are compared as they are. */
export const filterIds = onWire(stringList(id, LIMITS.event.filterIds).transform(foldedIds), {
  anyOf: [idsOnWire.items, idsOnWire],
})

/** The same in a frame of the live stream, where a single value is no list: the response repeats it as given. */
export const frameEventTypes = onWire(
  z.array(z.string()).max(LIMITS.event.filterTypes).transform(knownTypes),
  typesOnWire,
)
export const frameIds = onWire(z.array(id).max(LIMITS.event.filterIds).transform(foldedIds), idsOnWire)
