import { appsAccountsTopic } from './apps-accounts.ts'
import { calendarEventsTopic } from './calendar-events.ts'
import type { TopicDefinition } from './definition/event.ts'
import { domainsEventsTopic } from './domains-events.ts'
import { domainsStateTopic } from './domains-state.ts'
import { mailDeliveriesTopic } from './mail/mail-deliveries.ts'
import { mailDraftsTopic } from './mail/mail-drafts.ts'
import { mailFeedbackTopic } from './mail/mail-feedback.ts'
import { mailInboundTopic } from './mail/mail-inbound.ts'
import { mailListsTopic } from './mail/mail-lists.ts'
import { mailMessagesTopic } from './mail/mail-messages.ts'
import { tenancyTopic } from './tenancy.ts'

/** Every topic: one producing service each, a key within which order is kept, and a shape for each event. */
export const topics = {
  tenancy: tenancyTopic,
  'mail.inbound': mailInboundTopic,
  'mail.messages': mailMessagesTopic,
  'mail.feedback': mailFeedbackTopic,
  'mail.deliveries': mailDeliveriesTopic,
  'mail.drafts': mailDraftsTopic,
  'mail.lists': mailListsTopic,
  'domains.events': domainsEventsTopic,
  'domains.state': domainsStateTopic,
  'apps.accounts': appsAccountsTopic,
  'calendar.events': calendarEventsTopic,
} as const satisfies Record<string, TopicDefinition>

export type TopicName = keyof typeof topics
export type Topic<Name extends TopicName> = (typeof topics)[Name]
