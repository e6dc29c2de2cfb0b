import { type EventOf, type Topic, topics } from '@restante/contracts/events'

/** A mail to the unsubscribe address of a delivery. Nothing of the mail itself is read. */
export interface UnsubscribeRequest {
  readonly deliveryId: string
  readonly receivedAt: Date
  /** Address of the SMTP client. */
  readonly peer: string
}

/** The event that passes the request on to mail-send, which knows the recipient of the delivery (mail 15.5). */
export function unsubscribeEvent({
  deliveryId,
  receivedAt,
  peer,
}: UnsubscribeRequest): EventOf<Topic<'mail.feedback'>> {
  const payload = { delivery_id: deliveryId, received_at: receivedAt.toISOString(), peer }
  return topics['mail.feedback'].event('unsubscribe.requested', payload, { time: receivedAt })
}
