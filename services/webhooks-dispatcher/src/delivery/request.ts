import { createHmac } from 'node:crypto'

/** What is sent for one attempt: the body is the event's document, the same bytes each time. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Signs one attempt (events 8.1, 8.2; Standard Webhooks). The id is the same on every attempt of a delivery, the
 * timestamp is this attempt's. Both header families carry the same three values.
 * @param custom the webhook's own headers; they cannot replace those set here.
 */
export function signRequest(
  delivery: { id: string; body: string },
  secret: string,
  custom: Readonly<Record<string, string>>,
  at: Date,
): SignedRequest {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signature = `v1,${sign(`${delivery.id}.${timestamp}.${delivery.body}`, secret)}`
  return {
    body: delivery.body,
    headers: {
      ...custom,
      'content-type': 'application/json',
      'svix-id': delivery.id,
      'svix-timestamp': timestamp,
      'svix-signature': signature,
      'webhook-id': delivery.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    },
  }
}

/** The key is the base64 after `whsec_`, decoded. */
function sign(content: string, secret: string): string {
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
  return createHmac('sha256', key).update(content).digest('base64')
}
