import { countedIn, type EventOf, type Topic, topics } from '@restante/contracts/events'
import { COUNTED_EVENT_TYPES, type CountedEventType } from '@restante/contracts/vocabulary'
import { decodeEvent, type RecordedEvent } from '@restante/messaging'
import { DELIVERY_COUNTS, type SeriesName } from '../series/series.ts'

/** By how much an event changes a series of each of its scopes. */
export interface Change {
  readonly series: SeriesName
  readonly value: number
}

const counted: ReadonlySet<string> = new Set(COUNTED_EVENT_TYPES)
const isCounted = (type: string): type is CountedEventType => counted.has(type)

const STORAGE_FACTS: readonly string[] = ['message.stored', 'message.deleted']
const DRAFT_FACTS: readonly string[] = ['draft.changed', 'draft.deleted']
const DELIVERY_FACTS: readonly string[] = ['delivery.handed_over', 'delivery.bounced', 'delivery.complained']

/** The types that change a series of the scopes that an event names. */
export const CHANGING_TYPES: readonly string[] = [
  ...COUNTED_EVENT_TYPES,
  ...STORAGE_FACTS,
  ...DRAFT_FACTS,
  ...DELIVERY_FACTS,
]

/**
 * What an event of one of these types changes. Each is a sum, so that repetition is all that matters, and order nothing. Only events that carry
 * numbers are decoded.
 */
export function changesOf(event: RecordedEvent): Change[] {
  if (isCounted(event.type)) return [{ series: event.type, value: 1 }]
  if (STORAGE_FACTS.includes(event.type)) return storageChanges(decodeEvent(topics['mail.messages'], event))
  if (DRAFT_FACTS.includes(event.type)) return draftChanges(decodeEvent(topics['mail.drafts'], event))
  return deliveryChanges(decodeEvent(topics['mail.deliveries'], event))
}

function storageChanges(event: EventOf<Topic<'mail.messages'>>): Change[] {
  switch (event.type) {
    case 'message.stored':
      return storage(event.payload.size, 1, event.payload.thread_created ? 1 : 0)
    case 'message.deleted':
      return storage(-event.payload.size, -1, event.payload.thread_deleted ? -1 : 0)
    default:
      return []
  }
}

function storage(bytes: number, messages: number, threads: number): Change[] {
  return [
    { series: 'storage_bytes', value: bytes },
    { series: 'message_count', value: messages },
    { series: 'thread_count', value: threads },
  ]
}

/** A draft whose event does not say by how much it grew is found by the comparison with its owner. */
function draftChanges({ payload }: EventOf<Topic<'mail.drafts'>>): Change[] {
  return [{ series: 'storage_bytes', value: payload.grown ?? 0 }]
}

function deliveryChanges(event: EventOf<Topic<'mail.deliveries'>>): Change[] {
  const counts = countedIn(event)
  return DELIVERY_COUNTS.map((count) => ({ series: `recipients.${count}` as const, value: counts[count] }))
}
