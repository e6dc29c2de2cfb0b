import { StreamClient } from '@restante/testkit'
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
