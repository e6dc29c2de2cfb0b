import type { ServiceClient } from '@restante/service/http'

/** The inbox that an event is about, and the message in it where the event is about one. */
export interface InboxReference {
  readonly inboxUid: string
  readonly messageId: string | undefined
}

/** The owners of messages and of inboxes, who know what has been deleted. */
export interface MailboxOptions {
  readonly gateway: ServiceClient<'webhooks-dispatcher'>
  readonly mailIngest: ServiceClient<'webhooks-dispatcher'>
}

/**
 * Whether an inbox, and its message, can still be read: what was deleted must not be sent again. The mailbox hears of a
 * deleted inbox a moment later than its deletion was answered, so the owner of inboxes is asked about messages too.
 * @throws UpstreamError when one of them does not answer.
 */
export async function isKept(
  options: MailboxOptions,
  organizationId: string,
  { inboxUid, messageId }: InboxReference,
): Promise<boolean> {
  const kept = await Promise.all([
    isInboxKept(options, organizationId, inboxUid),
    messageId === undefined || isMessageKept(options, inboxUid, messageId),
  ])
  return kept.every(Boolean)
}

async function isInboxKept({ gateway }: MailboxOptions, organization_id: string, inbox_uid: string): Promise<boolean> {
  const inbox = { organization_id, inbox_uid, inboxes: [inbox_uid], pods: [] }
  return (await gateway.call('gateway.lookupInboxes', inbox)).inboxes.length > 0
}

async function isMessageKept({ mailIngest }: MailboxOptions, inbox_uid: string, messageId: string): Promise<boolean> {
  const message = { inbox_uid, message_ids: [messageId] }
  return (await mailIngest.call('mail-ingest.findMessages', message)).message_ids.length > 0
}
