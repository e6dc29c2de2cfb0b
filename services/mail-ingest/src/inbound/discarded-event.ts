import { type DiscardReason, topics } from '@restante/contracts/events'
import type { InboxScope } from './store.ts'

export const inboundTopic = topics['mail.inbound']

/** The event for operators about a mail that is stored in no mailbox. */
export function discardedEvent(
  inbox: InboxScope,
  mail: { readonly id: string; readonly size: number },
  reason: DiscardReason,
) {
  const { address: _, ...scope } = inbox
  const payload = { ...scope, inbound_id: mail.id, reason, size: mail.size }
  return inboundTopic.event('mail.discarded', payload, { time: new Date() })
}
