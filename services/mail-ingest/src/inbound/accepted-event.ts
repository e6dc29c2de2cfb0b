import { inboundTopic } from './discarded-event.ts'
import type { AcceptedMail, NewInbound } from './store.ts'

/** The events for operators about the rows of an accepted mail that are for inboxes. */
export function acceptedEvents({ envelope, receivedAt: time, size }: AcceptedMail, rows: readonly NewInbound[]) {
  const how =
    envelope.via === 'smtp'
      ? { via: envelope.via, peer: envelope.peer, helo: envelope.helo, tls: envelope.tls !== undefined }
      : { via: envelope.via }
  return rows.flatMap((row) => {
    if (row.kind !== 'mail') return []
    const { address: _, ...scope } = row.inbox
    const payload = {
      ...scope,
      inbound_id: row.id,
      recipient: row.recipient,
      mail_from: envelope.mail_from,
      ...how,
      size,
      accepted_at: time.toISOString(),
    }
    return [inboundTopic.event('mail.accepted', payload, { time })]
  })
}
