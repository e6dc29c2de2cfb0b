import type { MessageRow, ThreadTotals } from './rows.ts'

/** The columns of a message that count for its thread. */
export type ThreadMember = Pick<
  MessageRow,
  | 'id'
  | 'message_id'
  | 'direction'
  | 'labels'
  | 'timestamp'
  | 'sender'
  | 'to'
  | 'cc'
  | 'bcc'
  | 'subject'
  | 'preview'
  | 'attachments'
  | 'size'
>

/**
 * The totals of a thread after one more message, which must not be older than those before it (mail 5.3): subject of
 * the first, preview of the newest, everything else united in the order of first appearance.
 */
export function extendTotals(totals: ThreadTotals | undefined, message: ThreadMember): ThreadTotals {
  const received = message.direction === 'received' ? message.timestamp : null
  const sent = message.direction === 'sent' ? message.timestamp : null
  return {
    labels: united(totals?.labels, message.labels),
    timestamp: message.timestamp,
    received_timestamp: received ?? totals?.received_timestamp ?? null,
    sent_timestamp: sent ?? totals?.sent_timestamp ?? null,
    senders: united(totals?.senders, [message.sender]),
    recipients: united(totals?.recipients, [...message.to, ...message.cc, ...message.bcc]),
    subject: totals === undefined ? message.subject : totals.subject,
    preview: message.preview,
    attachments: [...(totals?.attachments ?? []), ...message.attachments],
    last_message_id: message.message_id,
    message_count: (totals?.message_count ?? 0) + 1,
    size: (totals?.size ?? 0) + message.size,
  }
}

/** The totals of a thread from all its messages, oldest first; undefined when there are none. */
export function totalsOf(messages: Iterable<ThreadMember>): ThreadTotals | undefined {
  let totals: ThreadTotals | undefined
  for (const message of messages) totals = extendTotals(totals, message)
  return totals
}

function united(known: readonly string[] = [], more: readonly string[]): string[] {
  return [...new Set([...known, ...more])]
}
