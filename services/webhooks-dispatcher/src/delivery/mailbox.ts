import type { ServiceClient } from '@restante/service/http'

/** The message that an event is about. */
export interface MessageReference {
  readonly organizationId: string
  readonly inboxUid: string
  readonly messageId: string
}

/** The owners of messages and of inboxes, who know what has been deleted. */
export interface MailboxOptions {
  readonly gateway: ServiceClient<'webhooks-dispatcher'>
  readonly mailIngest: ServiceClient<'webhooks-dispatcher'>
}

/**
 * Whether a message can still be read: what was deleted must not be sent again. The mailbox hears of a deleted inbox a
 * moment later than its deletion was answered, so the owner of inboxes is asked too.
 * @throws UpstreamError when one of them does not answer.
 */
export async function isKept({ gateway, mailIngest }: MailboxOptions, message: MessageReference): Promise<boolean> {
  const { organizationId: organization_id, inboxUid: inbox_uid, messageId } = message
  const [{ inboxes }, { message_ids: found }] = await Promise.all([
    gateway.call('gateway.lookupInboxes', { organization_id, inboxes: [inbox_uid], pods: [] }),
    mailIngest.call('mail-ingest.findMessages', { inbox_uid, message_ids: [messageId] }),
  ])
  return inboxes.length > 0 && found.length > 0
}
