import type { TopicDefinition } from './event.ts'
import { mailDeliveriesEvents } from './events/mail-deliveries.ts'
import { mailFeedbackEvents } from './events/mail-feedback.ts'
import { mailInboundEvents } from './events/mail-inbound.ts'
import { mailMessagesEvents } from './events/mail-messages.ts'
import { tenancyEvents } from './events/tenancy.ts'
import { LIMITS } from './limits.ts'

const COMMON = { partitions: 6, retentionMs: LIMITS.retention.topic } as const

/** Every topic: one producing service each, a key within which order is kept, and a shape for each event. */
export const topics = {
  /** Whoever starts later than the retention reaches takes the owner's snapshot first. */
  tenancy: {
    ...COMMON,
    name: 'tenancy',
    producer: 'gateway',
    key: 'organization_id',
    summary: 'Organizations, pods, inboxes and credentials: full state at each change, and deletions. Never a secret.',
    events: tenancyEvents,
  },
  'mail.inbound': {
    ...COMMON,
    name: 'mail.inbound',
    producer: 'mail-ingest',
    key: 'inbox_uid',
    summary: 'What became of each accepted mail: facts for operators, without content.',
    events: mailInboundEvents,
  },
  'mail.messages': {
    ...COMMON,
    name: 'mail.messages',
    producer: 'mail-ingest',
    key: 'inbox_uid',
    summary: 'Public message events, byte for byte as webhooks and streams get them; label changes; deletions.',
    events: mailMessagesEvents,
  },
  'mail.feedback': {
    ...COMMON,
    name: 'mail.feedback',
    producer: 'mail-ingest',
    key: 'delivery_id',
    summary: 'Bounce and complaint reports about sent mail, found in inbound mail.',
    events: mailFeedbackEvents,
  },
  'mail.deliveries': {
    ...COMMON,
    name: 'mail.deliveries',
    producer: 'mail-send',
    key: 'inbox_uid',
    summary: 'What became of each sent mail; the mailbox turns these facts into labels and public events.',
    events: mailDeliveriesEvents,
  },
} as const satisfies Record<string, TopicDefinition>

export type TopicName = keyof typeof topics
export type Topic<Name extends TopicName> = (typeof topics)[Name]
