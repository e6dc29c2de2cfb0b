import { type EventOf, type Topic, topics } from '@restante/contracts/events'
import type { Report } from '@restante/mime'
import type { Envelope } from '../../inbound/envelope.ts'

type FeedbackEvent = EventOf<Topic<'mail.feedback'>>

/** How a report arrived, and the delivery that it is about. */
export interface ReportArrival {
  readonly deliveryId: string
  readonly receivedAt: Date
  readonly envelope: Envelope
  /** Domains for which SPF or DKIM passed. */
  readonly authenticated: readonly string[]
}

/** The event that passes a report on to mail-send, which knows what was sent (mail 13, events 1.3). */
export function feedbackEvent(report: Report, arrival: ReportArrival): FeedbackEvent {
  const messageId = report.originalMessageId
  const common = {
    delivery_id: arrival.deliveryId,
    received_at: arrival.receivedAt.toISOString(),
    authenticated: [...arrival.authenticated],
    ...(arrival.envelope.via === 'smtp' && { peer: arrival.envelope.peer }),
    ...(messageId !== undefined && { message_id: messageId }),
  }
  const { event } = topics['mail.feedback']
  const at = { time: arrival.receivedAt }
  switch (report.kind) {
    case 'delivery':
      return event('bounce.reported', { ...common, recipients: recipientsOf(report) }, at)
    case 'feedback': {
      const { feedbackType = 'abuse', recipients } = report
      return event('complaint.reported', { ...common, feedback_type: feedbackType, recipients }, at)
    }
  }
}

function recipientsOf(report: Extract<Report, { kind: 'delivery' }>) {
  return report.recipients.map(({ recipient, originalRecipient, action, status, diagnostic }) => ({
    ...((originalRecipient ?? recipient) !== undefined && { address: originalRecipient ?? recipient }),
    action,
    ...(status !== undefined && { status }),
    ...(diagnostic !== undefined && { diagnostic }),
  }))
}
