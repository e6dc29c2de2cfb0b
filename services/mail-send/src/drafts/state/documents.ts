import type { Attachment, Draft, DraftItem } from '@restante/contracts/resources'
import { type KeptFile, storedOf } from '../../files/store.ts'
import type { DraftItemRow, DraftRow } from './store.ts'

/** A draft as lists show it (mail 5.4). */
export function draftItem(row: DraftItemRow, files: readonly KeptFile[]): DraftItem {
  const { subject, preview, send_status, send_at, kind, source_id } = row
  return {
    pod_id: row.pod_id,
    inbox_id: row.inbox_address,
    draft_id: row.id,
    labels: [...row.labels],
    ...(row.to.length > 0 && { to: [...row.to] }),
    ...(row.cc.length > 0 && { cc: [...row.cc] }),
    ...(row.bcc.length > 0 && { bcc: [...row.bcc] }),
    ...(subject !== null && { subject }),
    ...(preview !== null && { preview }),
    ...(files.length > 0 && { attachments: files.map(attachmentOf) }),
    ...(source_id !== null && kind === 'reply' && { in_reply_to: source_id }),
    ...(source_id !== null && kind === 'forward' && { forward_of: source_id }),
    ...(send_status !== null && { send_status }),
    ...(send_at !== null && { send_at: send_at.toISOString() }),
    updated_at: row.updated_at.toISOString(),
    created_at: row.created_at.toISOString(),
  }
}

/** A draft in full. */
export function draftDocument(row: DraftRow, files: readonly KeptFile[]): Draft {
  const { text, html, client_id } = row
  return {
    ...draftItem(row, files),
    ...(client_id !== null && { client_id }),
    ...(row.reply_to.length > 0 && { reply_to: [...row.reply_to] }),
    ...(text !== null && { text }),
    ...(html !== null && { html }),
    ...(row.references.length > 0 && { references: [...row.references] }),
  }
}

/** The public part of a file. */
export function attachmentOf(file: KeptFile): Attachment {
  const { id: attachment_id, sha256: _, ...facts } = storedOf(file)
  return { attachment_id, ...facts }
}
