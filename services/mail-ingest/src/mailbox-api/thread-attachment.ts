import type { Caller } from '@restante/contracts/access'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'
import { visibleThread } from './visible.ts'

interface Holder {
  readonly id: string
  readonly attachment: StoredAttachment
}

// By the index on the ids of attachments, for which the condition must be that of the index. The planner takes a thread for
// short, and would read all messages of a long one before it says that none has the attachment.
const HOLDER = sql<Holder, [threadId: string, attachmentId: string]>(`
with holders as materialized (
  select id, thread_id, attachments from messages
   where jsonb_path_query_array(attachments, '$[*].attachment_id') ? $2::text and attachments <> '[]')
select id, file as attachment
  from holders cross join jsonb_array_elements(attachments) as file
 where thread_id = $1 and file->>'attachment_id' = $2 limit 1`)

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
  if (!holder) throw notFound('Attachment')
  return { messageUid: holder.id, attachment: holder.attachment }
}
