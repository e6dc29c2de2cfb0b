import { StreamClient, waitFor } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'

/** Opens a stream and subscribes it; without a filter, to everything that the key may see. */
export async function openStream(endpoints: Endpoints, key: string, filter: object = {}): Promise<StreamClient> {
  const stream = await connectStream(endpoints, key)
  const answer = await stream.ask({ type: 'subscribe', ...filter })
  if (answer['type'] !== 'subscribed') throw new Error(`the subscription was refused: ${JSON.stringify(answer)}`)
  return stream
}

/** A stream without a subscription. */
export function connectStream(endpoints: Endpoints, key: string): Promise<StreamClient> {
  return StreamClient.open(endpoints.streamUrl, { headers: { authorization: `Bearer ${key}` } })
}

/** The events of a stream about one message, in order of arrival. */
export function eventsAbout({ events }: StreamClient, messageId: string): StreamClient['events'][number][] {
  return events.filter((event) => JSON.stringify(event).includes(JSON.stringify(messageId)))
}

/** Their types. */
export function typesAbout(stream: StreamClient, messageId: string): unknown[] {
  return eventsAbout(stream, messageId).map((event) => event['event_type'])
}

/** Waits for an event of a type about a message. */
export function eventAbout(stream: StreamClient, messageId: string, type: string, timeout?: number) {
  return waitFor(() => eventsAbout(stream, messageId).find((event) => event['event_type'] === type), {
    what: `${type} of ${messageId}`,
    ...(timeout !== undefined && { timeout }),
  })
}
