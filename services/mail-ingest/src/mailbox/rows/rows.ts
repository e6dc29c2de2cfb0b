import type { MessageAuthentication } from '@restante/contracts/resources'
import type { TransferEncoding } from '@restante/mime'
import type { Located } from '@restante/service/identity'

/** One stored attachment: its public members, and the position of its bytes in the raw mail. */
export interface StoredAttachment {
  readonly attachment_id: string
  /** Offset of its first byte in the received mail, and of the one after its last. */
  readonly start: number
  readonly end: number
  readonly encoding: TransferEncoding
  readonly size: number
  readonly filename?: string
  readonly content_type: string
  readonly content_disposition?: 'inline' | 'attachment'
  readonly content_id?: string
}

/** The scope of a row, by which every query filters, and the address that the API shows. */
export interface ScopeColumns {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly inbox_address: string
}

/** Where a row lies in its organization. */
export function locationOf(row: ScopeColumns): Located {
  return { organizationId: row.organization_id, podId: row.pod_id, inboxUid: row.inbox_uid }
}

/** Columns of `messages`. */
export interface MessageRow extends ScopeColumns {
  readonly id: string
  readonly thread_id: string
  readonly message_id: string
  readonly header_id: string
  readonly direction: 'received' | 'sent'
  readonly labels: readonly string[]
  /** Null: stored before this column existed. */
  readonly arrival_labels: readonly string[] | null
  readonly timestamp: Date
  readonly sender: string
  readonly sender_address: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly reply_to: readonly string[]
  readonly recipients: string
  readonly subject: string | null
  readonly preview: string | null
  readonly in_reply_to: string | null
  readonly references: readonly string[]
  readonly attachments: readonly StoredAttachment[]
  readonly size: number
  readonly blob: string
  readonly trace: string
  readonly digest: string
  /** Null for a sent message. */
  readonly authentication: MessageAuthentication | null
  readonly handed_over_at: Date | null
  readonly settled_at: Date | null
  readonly delayed_at: Date | null
  readonly opened_at: Date | null
  /** The event, or the date of one, that its calendar file was applied to. */
  readonly calendar_event_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Columns of `message_bodies`, apart from the id that it shares with its message. */
export interface BodyColumns {
  readonly text: string | null
  readonly html: string | null
  readonly extracted_text: string | null
  readonly extracted_html: string | null
  /** What the mail shows, of a mail that has html only. */
  readonly search_text: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** A stored message with its body. */
export interface MessageWithBody {
  readonly message: MessageRow
  readonly body: BodyColumns
}

/** Totals of a thread's messages. */
export interface ThreadTotals {
  readonly labels: readonly string[]
  readonly timestamp: Date
  readonly received_timestamp: Date | null
  readonly sent_timestamp: Date | null
  readonly senders: readonly string[]
  readonly recipients: readonly string[]
  readonly subject: string | null
  readonly preview: string | null
  readonly attachments: readonly StoredAttachment[]
  readonly last_message_id: string
  readonly message_count: number
  readonly size: number
}

/** Columns of `threads`. */
export interface ThreadRow extends ScopeColumns, ThreadTotals {
  readonly id: string
  readonly created_at: Date
  readonly updated_at: Date
}
