import type { EventOf, PublicEvent, topics } from '@restante/contracts/events'
import type { LabelChange } from '../mailbox/label-log.ts'

/** Delivery events of mail-send. */
export type DeliveryEvent = Exclude<EventOf<(typeof topics)['mail.deliveries']>, { readonly type: 'message.accepted' }>

/** Public events about mail. */
export type MailEvent = Extract<PublicEvent, { readonly event_type: `message.${string}` }>

const NO_CHANGE: LabelChange = { added: [], removed: [] }

/** The state of a sent message: the times of its newest delivery or bounce, and of its newest delay. */
export interface Progress {
  readonly settled_at: Date | null
  readonly delayed_at: Date | null
}

/**
 * Labels that an event changes (mail 15.1). Whether a message is delayed is decided by what happened last, in whatever
 * order events arrive.
 */
export function labelChangeOf(event: DeliveryEvent, { settled_at, delayed_at }: Progress): LabelChange {
  switch (event.type) {
    case 'delivery.handed_over':
      return NO_CHANGE
    case 'delivery.delivered':
      return endedAs('delivered', event, delayed_at)
    case 'delivery.bounced':
      return endedAs('bounced', event, delayed_at)
    case 'delivery.delayed':
      return settled_at !== null && settled_at >= timeOf(event) ? NO_CHANGE : { added: ['delayed'], removed: [] }
    case 'delivery.complained':
      return { added: ['complained'], removed: [] }
    case 'delivery.rejected':
      return { added: ['rejected'], removed: [] }
    case 'delivery.opened':
      return { added: ['opened'], removed: [] }
  }
}

function endedAs(label: string, event: DeliveryEvent, delayedAt: Date | null): LabelChange {
  const endsDelay = delayedAt === null || delayedAt <= timeOf(event)
  return { added: [label], removed: endsDelay ? ['delayed'] : [] }
}

function timeOf({ payload }: DeliveryEvent): Date {
  return new Date(payload.timestamp)
}

/** Whether an event ends the delivery to a recipient. */
export function endsDelivery(event: DeliveryEvent): boolean {
  return event.type === 'delivery.delivered' || event.type === 'delivery.bounced'
}

/**
 * Whether an event shows that the mail was sent, directly or by implication: `message.sent` is published before the
 * events that follow from it.
 */
export function impliesHandOver(event: DeliveryEvent): boolean {
  return ['delivery.handed_over', 'delivery.delivered', 'delivery.complained', 'delivery.opened'].includes(event.type)
}

/** The message as public events name it. */
export interface MessageReference {
  readonly inbox_id: string
  readonly thread_id: string
  readonly message_id: string
}

/** `message.sent` (events 3.2). */
export function sentEvent(
  eventId: string,
  message: MessageReference,
  timestamp: string,
  recipients: readonly string[],
): MailEvent {
  return {
    type: 'event',
    event_type: 'message.sent',
    event_id: eventId,
    send: { ...reference(message), timestamp: instant(timestamp), recipients: [...recipients] },
  }
}

/** The public event for a delivery event, in addition to `message.sent`; a delay has none (events 1.2 rule 3). */
export function publicEventOf(event: DeliveryEvent, message: MessageReference): MailEvent | undefined {
  const head = { type: 'event' as const, event_id: event.id }
  const about = { ...reference(message), timestamp: instant(event.payload.timestamp) }
  switch (event.type) {
    case 'delivery.handed_over':
    case 'delivery.delayed':
      return undefined
    case 'delivery.delivered':
      return { ...head, event_type: 'message.delivered', delivery: { ...about, recipients: event.payload.recipients } }
    case 'delivery.bounced': {
      const { type, sub_type } = event.payload
      const recipients = event.payload.recipients.map((address) => ({ address, status: 'bounced' as const }))
      return { ...head, event_type: 'message.bounced', bounce: { ...about, type, sub_type, recipients } }
    }
    case 'delivery.complained': {
      const { type, sub_type, recipients } = event.payload
      return { ...head, event_type: 'message.complained', complaint: { ...about, type, sub_type, recipients } }
    }
    case 'delivery.rejected':
      return { ...head, event_type: 'message.rejected', reject: { ...about, reason: event.payload.reason } }
    case 'delivery.opened':
      return { ...head, event_type: 'message.opened', open: about }
  }
}

function reference({ inbox_id, thread_id, message_id }: MessageReference): MessageReference {
  return { inbox_id, thread_id, message_id }
}

/** Public times have milliseconds (identity 1.2). */
function instant(text: string): string {
  return new Date(text).toISOString()
}
