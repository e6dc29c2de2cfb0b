import { LIMITS, SYSTEM_LABELS } from '@restante/contracts/vocabulary'
import type { MessageRow, StoredAttachment, ThreadTotals } from './rows/rows.ts'

/** The columns of a message that contribute to its thread. */
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

/** The lists that a thread derives from its messages. They are bounded, because their length depends on the senders. */
export type ThreadLists = Pick<ThreadTotals, 'senders' | 'recipients' | 'attachments'>

const NOTHING: ThreadLists = { senders: [], recipients: [], attachments: [] }

/**
 * The totals of a thread after one more message, which must not be older than the others (mail 5.3). The subject is
 * that of the first message, the preview that of the newest. Labels and lists are united in order of first appearance;
 * the lists keep only their newest entries, and of labels the first are kept.
 */
export function extendTotals(totals: ThreadTotals | undefined, message: ThreadMember): ThreadTotals {
  const received = message.direction === 'received' ? message.timestamp : null
  const sent = message.direction === 'sent' ? message.timestamp : null
  return {
    labels: unitedLabels([...(totals?.labels ?? []), ...message.labels]),
    timestamp: message.timestamp,
    received_timestamp: received ?? totals?.received_timestamp ?? null,
    sent_timestamp: sent ?? totals?.sent_timestamp ?? null,
    ...extendLists(totals ?? NOTHING, message),
    subject: totals === undefined ? message.subject : totals.subject,
    preview: message.preview,
    last_message_id: message.message_id,
    message_count: (totals?.message_count ?? 0) + 1,
    size: (totals?.size ?? 0) + message.size,
  }
}

/**
 * The totals of a thread after one more message that is older than its newest. They are updated instead of computed
 * again from all messages, because senders determine how long a thread is and which dates its mails have.
 * @param newest the newest messages of the thread including this one, oldest first
 * @param subject of the first message of the thread, which may be this one
 */
export function insertIntoTotals(
  totals: ThreadTotals,
  message: ThreadMember,
  newest: readonly ThreadMember[],
  subject: string | null,
): ThreadTotals {
  const later = (known: Date | null) => (known !== null && known > message.timestamp ? known : message.timestamp)
  return {
    ...totals,
    ...(message.direction === 'received' && { received_timestamp: later(totals.received_timestamp) }),
    ...(message.direction === 'sent' && { sent_timestamp: later(totals.sent_timestamp) }),
    ...listsOf(newest),
    labels: unitedLabels([...newest.flatMap(({ labels }) => labels), ...totals.labels]),
    subject,
    message_count: totals.message_count + 1,
    size: totals.size + message.size,
  }
}

/** The lists of a thread from its newest messages, oldest first. */
export function listsOf(messages: readonly ThreadMember[]): ThreadLists {
  return {
    senders: newestTexts(messages.map(({ sender }) => sender)),
    recipients: newestTexts(messages.flatMap(({ to, cc, bcc }) => [...to, ...cc, ...bcc])),
    attachments: newestAttachments(messages.flatMap(({ attachments }) => attachments)),
  }
}

function extendLists(lists: ThreadLists, { sender, to, cc, bcc, attachments }: ThreadMember): ThreadLists {
  return {
    senders: newestTexts([...lists.senders, sender]),
    recipients: newestTexts([...lists.recipients, ...to, ...cc, ...bcc]),
    attachments: newestAttachments([...lists.attachments, ...attachments]),
  }
}

/**
 * The newest distinct texts within the bounds, in order of first appearance. A text that was dropped and appears again
 * counts as new.
 */
function newestTexts(all: readonly string[]): string[] {
  const { list, listBytes } = LIMITS.thread
  const kept = new Set<string>()
  const inOrder: string[] = []
  let [oldest, bytes] = [0, 0]
  for (const text of all) {
    if (kept.has(text)) continue
    kept.add(text)
    inOrder.push(text)
    bytes += Buffer.byteLength(text)
    for (; kept.size > list || bytes > listBytes; oldest++) {
      const cut = inOrder[oldest] ?? ''
      kept.delete(cut)
      bytes -= Buffer.byteLength(cut)
    }
  }
  return inOrder.slice(oldest)
}

/** The last attachments within the bounds, in their order. */
function newestAttachments(all: readonly StoredAttachment[]): StoredAttachment[] {
  const { list, listBytes } = LIMITS.thread
  const last = all.slice(-list)
  let bytes = 0
  const tooMuch = last.findLastIndex((attachment) => {
    bytes += Buffer.byteLength(JSON.stringify(attachment))
    return bytes > listBytes
  })
  return last.slice(tooMuch + 1)
}

/** Distinct labels in order of first appearance: all that have a meaning for the service, and the first of the others. */
function unitedLabels(all: readonly string[]): string[] {
  const { list, listBytes } = LIMITS.thread
  let [number, bytes] = [0, 0]
  return [...new Set(all)].filter((label) => {
    number++
    bytes += Buffer.byteLength(label)
    return SYSTEM_LABELS.includes(label) || (number <= list && bytes <= listBytes)
  })
}
