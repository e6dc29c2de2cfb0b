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

/**
 * The totals of a thread from all its messages, oldest first; undefined when there are none. What `extendTotals` comes to
 * message by message, in time linear to their number: whoever writes to an inbox makes its threads as long as they like.
 */
export function totalsOf(messages: readonly ThreadMember[]): ThreadTotals | undefined {
  const [first, newest] = [messages[0], messages.at(-1)]
  if (first === undefined || newest === undefined) return undefined
  const newestOf = (direction: ThreadMember['direction']) =>
    messages.findLast((message) => message.direction === direction)?.timestamp ?? null
  return {
    labels: unique(messages.flatMap(({ labels }) => labels)),
    timestamp: newest.timestamp,
    received_timestamp: newestOf('received'),
    sent_timestamp: newestOf('sent'),
    senders: unique(messages.map(({ sender }) => sender)),
    recipients: unique(messages.flatMap(({ to, cc, bcc }) => [...to, ...cc, ...bcc])),
    subject: first.subject,
    preview: newest.preview,
    attachments: messages.flatMap(({ attachments }) => attachments),
    last_message_id: newest.message_id,
    message_count: messages.length,
    size: messages.reduce((sum, { size }) => sum + size, 0),
  }
}

function united(known: readonly string[] = [], more: readonly string[]): string[] {
  return unique([...known, ...more])
}

function unique(all: readonly string[]): string[] {
  return [...new Set(all)]
}
