import type { Attachment, Message, MessageItem, ThreadItem } from '@restante/contracts/resources'
import type { BodyColumns, MessageRow, StoredAttachment, ThreadRow } from './rows.ts'

/** Columns needed for a message in a list. */
export type MessageItemRow = Omit<
  MessageRow,
  | 'header_id'
  | 'direction'
  | 'arrival_labels'
  | 'sender_address'
  | 'recipients'
  | 'blob'
  | 'trace'
  | 'digest'
  | 'handed_over_at'
  | 'settled_at'
  | 'delayed_at'
  | 'opened_at'
  | 'reply_to'
>

/** A message in a list (mail 5.2). Unset members are omitted, never null. */
export function messageItem(row: MessageItemRow): MessageItem {
  return {
    organization_id: row.organization_id,
    pod_id: row.pod_id,
    inbox_id: row.inbox_address,
    thread_id: row.thread_id,
    message_id: row.message_id,
    labels: [...row.labels],
    timestamp: row.timestamp.toISOString(),
    from: row.sender,
    to: [...row.to],
    ...(row.cc.length > 0 && { cc: [...row.cc] }),
    ...(row.bcc.length > 0 && { bcc: [...row.bcc] }),
    ...(row.subject !== null && { subject: row.subject }),
    ...(row.preview !== null && { preview: row.preview }),
    ...(row.attachments.length > 0 && { attachments: row.attachments.map(attachmentDocument) }),
    ...(row.in_reply_to !== null && { in_reply_to: row.in_reply_to }),
    ...(row.references.length > 0 && { references: [...row.references] }),
    size: row.size,
    ...(row.calendar_event_id !== null && { calendar_event_id: row.calendar_event_id }),
    ...(row.authentication !== null && { authentication: row.authentication }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Columns needed for a message in full. */
export type FullMessageRow = MessageItemRow &
  Pick<MessageRow, 'reply_to' | 'opened_at'> &
  Omit<BodyColumns, 'search_text'>

/** A message in full (mail 5.1). */
export function messageDocument(row: FullMessageRow): Message {
  return {
    ...messageItem(row),
    ...(row.reply_to.length > 0 && { reply_to: [...row.reply_to] }),
    ...(row.text !== null && { text: row.text }),
    ...(row.html !== null && { html: row.html }),
    ...(row.extracted_text !== null && { extracted_text: row.extracted_text }),
    ...(row.extracted_html !== null && { extracted_html: row.extracted_html }),
    headers: { ...row.headers },
    ...(row.opened_at !== null && { opened_at: row.opened_at.toISOString() }),
  }
}

/** A thread in a list, and in a received event (mail 5.3). */
export function threadItem(row: ThreadRow): ThreadItem {
  return {
    organization_id: row.organization_id,
    pod_id: row.pod_id,
    inbox_id: row.inbox_address,
    thread_id: row.id,
    labels: [...row.labels],
    timestamp: row.timestamp.toISOString(),
    ...(row.received_timestamp !== null && { received_timestamp: row.received_timestamp.toISOString() }),
    ...(row.sent_timestamp !== null && { sent_timestamp: row.sent_timestamp.toISOString() }),
    senders: [...row.senders],
    recipients: [...row.recipients],
    ...(row.subject !== null && { subject: row.subject }),
    ...(row.preview !== null && { preview: row.preview }),
    ...(row.attachments.length > 0 && { attachments: row.attachments.map(attachmentDocument) }),
    last_message_id: row.last_message_id,
    message_count: row.message_count,
    size: row.size,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The public part of an attachment. */
export function attachmentDocument({ start: _, end: __, encoding: ___, ...attachment }: StoredAttachment): Attachment {
  return attachment
}
