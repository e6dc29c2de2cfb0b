import { type Queryable, sql } from '@restante/service/database'
import { deletedAmong } from '@restante/tenancy'

const EXISTING = sql<{ message_id: string }, [inboxUid: string, messageIds: readonly string[]]>(
  'select message_id from messages where inbox_uid = $1 and message_id = any($2::text[])',
)

/** Those of the messages that can be read: the rows of a deleted inbox remain until its purge has come to them. */
export async function existingMessages(
  on: Queryable,
  inboxUid: string,
  messageIds: readonly string[],
): Promise<string[]> {
  const [rows, deleted] = await Promise.all([on.query(EXISTING, inboxUid, messageIds), deletedAmong(on, [inboxUid])])
  return deleted.size > 0 ? [] : rows.map(({ message_id }) => message_id)
}
