import type { Caller } from '@restante/contracts/access'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'
import { visibleThread } from './visible.ts'

const HOLDER = sql<{ id: string; attachments: readonly StoredAttachment[] }, [threadId: string, attachmentId: string]>(`
select id, attachments from messages
 where thread_id = $1 and attachments @> jsonb_build_array(jsonb_build_object('attachment_id', $2::text))
 limit 1`)

/**
 * An attachment of one of a thread's messages (mail 10).
 * @throws ApiError 404 when the thread or the attachment does not exist, or is invisible to this key.
 */
export async function findThreadAttachment(
  db: Database,
  caller: Caller,
  threadId: string,
  attachmentId: string,
): Promise<{ messageUid: string; attachment: StoredAttachment }> {
  await visibleThread(db, caller, threadId)
  const [holder] = isUuid(attachmentId) ? await db.query(HOLDER, threadId, attachmentId) : []
  const attachment = holder?.attachments.find(({ attachment_id }) => attachment_id === attachmentId)
  if (!holder || !attachment) throw notFound('Attachment')
  return { messageUid: holder.id, attachment }
}
