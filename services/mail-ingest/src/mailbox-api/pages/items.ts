import type { MessageItemRow } from '../../mailbox/rows/documents.ts'
import type { ThreadRow } from '../../mailbox/rows/rows.ts'
import { unpackedBytes } from '../../mailbox/rows/unpacked-bytes.ts'
import { THREAD_COLUMNS } from '../../mailbox/store.ts'
import { DEFAULT_VIEW, fitting, type Listed, listed } from './list-query.ts'

/** The columns of `MessageItemRow`. */
export const MESSAGE_ITEM_COLUMNS = `id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, labels, "timestamp",
  sender, "to", cc, bcc, subject, preview, in_reply_to, "references", attachments, size, authentication,
  calendar_event_id, created_at, updated_at`

/** A message in a list or a search. */
export const MESSAGE_ITEMS = listed<MessageItemRow>(
  'messages',
  MESSAGE_ITEM_COLUMNS,
  unpackedBytes('recipients', 'attachments', '"references"', 'labels'),
)

/** A thread in a list or a search. */
export const THREAD_ITEMS = listed<ThreadRow>(
  'threads',
  THREAD_COLUMNS,
  unpackedBytes('senders', 'recipients', 'attachments', 'labels'),
)

/**
 * The items with the ids of `$1`, in the order of these, without those that the default view hides by now; no more of them than
 * one answer has room for.
 */
export function byIds<Row>({ from, columns, bytes }: Listed<Row>): string {
  const rows = `
select ${columns}, ${bytes} as bytes, place from unnest($1::uuid[]) with ordinality as wanted(id, place) join ${from} using (id)
 where ${DEFAULT_VIEW}`
  return fitting(columns, rows, 'order by place')
}
