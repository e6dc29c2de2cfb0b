import { z } from 'zod'
import type { EventDefinition, TopicDefinition } from './definition/event.ts'
import { type Topic, type TopicName, topics } from './topics.ts'

/** Every topic that carries public events: those that webhooks and streams follow. */
export const PUBLIC_TOPICS: readonly TopicDefinition[] = Object.values<TopicDefinition>(topics).filter((topic) =>
  Object.values(topic.events).some(isPublic),
)

/** Every type of event that webhooks and streams deliver, whatever its topic. */
export const PUBLIC_EVENT_TYPES: readonly string[] = PUBLIC_TOPICS.flatMap((topic) =>
  Object.entries(topic.events).flatMap(([type, definition]) => (isPublic(definition) ? [type] : [])),
)

function isPublic(definition: EventDefinition): boolean {
  return definition.public === true
}

type PublicSchemas<T extends TopicDefinition> = {
  [Type in keyof T['events']]: T['events'][Type] extends { readonly public: true; readonly schema: infer S } ? S : never
}[keyof T['events']]

/** The document of a public event, discriminated by `event_type`. */
export type PublicEvent = { [Name in TopicName]: z.infer<PublicSchemas<Topic<Name>>> }[TopicName]

/** The shape of `PublicEvent`, for documents and checks. */
export const publicEvent = publicEventSchema()

function publicEventSchema() {
  const [first, ...others] = PUBLIC_TOPICS.flatMap(({ events }) => Object.values(events).filter(isPublic))
    .map(({ schema }) => schema)
    .filter((schema) => schema instanceof z.ZodObject)
  if (first === undefined) throw new Error('no topic has a public event')
  return z.discriminatedUnion('event_type', [first, ...others]).meta({ id: 'Event' })
}
