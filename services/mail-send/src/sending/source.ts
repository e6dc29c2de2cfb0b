import { type Caller, type CallerInbox, RESTRICTED_LABELS, type RestrictedLabel } from '@restante/contracts'
import { notFound, type ServiceClient } from '@restante/service'
import type { AnsweredMessage } from './message.ts'

/** A large source has to travel; the mailbox answers small ones within milliseconds. */
const TIMEOUT_MS = 5_000

/** Restricted labels whose messages the caller's key may see (mail 4.4); a key without a list holds all permissions. */
export function visibleLabels(caller: Caller): RestrictedLabel[] {
  const { permissions } = caller.credential
  if (!permissions) return [...RESTRICTED_LABELS]
  return RESTRICTED_LABELS.filter((label) => permissions.includes(`label_${label}_read`))
}

/**
 * Reads the message that is answered from its owner.
 * @throws ApiError 404 when it is not in this inbox, or hidden from the caller's key.
 */
export async function readSource(
  mailIngest: ServiceClient<'mail-send'>,
  caller: Caller,
  inbox: CallerInbox,
  messageId: string,
): Promise<AnsweredMessage> {
  const request = { inbox_uid: inbox.uid, message_id: messageId, visible_labels: visibleLabels(caller) }
  const { source } = await mailIngest.call('mail-ingest.getReplySource', request, TIMEOUT_MS)
  if (!source) throw notFound('Message')
  const { thread_id: threadId, subject, text, html } = source
  return {
    threadId,
    source: {
      messageId: source.message_id,
      from: source.from,
      replyTo: source.reply_to ?? [],
      to: source.to,
      cc: source.cc ?? [],
      references: source.references,
      timestamp: new Date(source.timestamp),
      sentByInbox: source.sent,
      ...(subject !== undefined && { subject }),
      ...(text !== undefined && { text }),
      ...(html !== undefined && { html }),
    },
  }
}
