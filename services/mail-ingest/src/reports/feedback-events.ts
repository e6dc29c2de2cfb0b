import { randomUUID } from 'node:crypto'
import { type EventOf, NO_ORGANIZATION, type topics } from '@restante/contracts'
import type { Report } from '@restante/mime'
import type { Envelope } from '../inbound/envelope.ts'

type FeedbackEvent = EventOf<(typeof topics)['mail.feedback']>

/** Which delivery the report came back to, and when. */
export interface ReportArrival {
  readonly deliveryId: string
  readonly receivedAt: Date
  readonly envelope: Envelope
  /** Domains for which SPF or DKIM passed. */
  readonly authenticated: readonly string[]
}

/** The event that hands a report on to mail-send, which knows what was sent (mail 13, events 1.3). */
export function feedbackEvent(report: Report, arrival: ReportArrival): FeedbackEvent {
  const messageId = report.originalMessageId
  const common = {
    delivery_id: arrival.deliveryId,
    received_at: arrival.receivedAt.toISOString(),
    authenticated: [...arrival.authenticated],
    ...(arrival.envelope.via === 'smtp' && { peer: arrival.envelope.peer }),
    ...(messageId !== undefined && { message_id: messageId }),
  }
  const envelope = {
    id: randomUUID(),
    subject: arrival.deliveryId,
    key: arrival.deliveryId,
    time: arrival.receivedAt,
    routing: { organizationId: NO_ORGANIZATION },
  }
  switch (report.kind) {
    case 'delivery':
      return { ...envelope, type: 'bounce.reported', payload: { ...common, recipients: recipientsOf(report) } }
    case 'feedback': {
      const { feedbackType = 'abuse', recipients } = report
      return {
        ...envelope,
        type: 'complaint.reported',
        payload: { ...common, feedback_type: feedbackType, recipients },
      }
    }
  }
}

function recipientsOf(report: Extract<Report, { kind: 'delivery' }>) {
  return report.recipients.map(({ recipient, originalRecipient, action, status, diagnostic }) => ({
    address: originalRecipient ?? recipient,
    action,
    ...(status !== undefined && { status }),
    ...(diagnostic !== undefined && { diagnostic }),
  }))
}
