import { StreamClient } from '@restante/testkit'
import type { Place } from '../stack/place.ts'

/** A stream that is subscribed; without a filter, to everything that the key may see. */
export async function openStream(place: Place, key: string, filter: object = {}): Promise<StreamClient> {
  const stream = await connectStream(place, key)
  const answer = await stream.ask({ type: 'subscribe', ...filter })
  if (answer['type'] !== 'subscribed') throw new Error(`the subscription was refused: ${JSON.stringify(answer)}`)
  return stream
}

/** A stream without a subscription. */
export function connectStream(place: Place, key: string): Promise<StreamClient> {
  return StreamClient.open(place.streamUrl, { headers: { authorization: `Bearer ${key}` } })
}
