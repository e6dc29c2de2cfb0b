import { sql, type Tx } from '@restante/service/database'
import { lockLog } from './store.ts'

/** A message that no longer exists. */
export interface DeletedMessage {
  readonly inbox_uid: string
  readonly message_id: string
  readonly deleted_at: string
}

const MESSAGES = `jsonb_to_recordset($1::jsonb) as gone(inbox_uid uuid, message_id text, deleted_at timestamptz)`

const REMEMBER = sql<unknown, [messages: string]>(
  `insert into deleted_messages (inbox_uid, message_id, deleted_at)
   select inbox_uid, message_id, max(deleted_at) from ${MESSAGES} group by inbox_uid, message_id
   on conflict (inbox_uid, message_id) do update
     set deleted_at = greatest(deleted_messages.deleted_at, excluded.deleted_at), noted_at = excluded.noted_at`,
)

// A message that came again under its id after the deletion is another one. Within a minute the clocks of two hosts may
// disagree; what is in the log by then happened before the deletion, because Kafka keeps the order of an inbox.
const FORGET = sql<unknown, [messages: string]>(
  `delete from stream_log as entry using ${MESSAGES}
   where entry.kind = 'event' and entry.inbox_uid = gone.inbox_uid and entry.subject = gone.message_id
     and entry.happened_at <= gone.deleted_at + interval '1 minute'`,
)

/**
 * Removes the events of deleted messages from the log, and keeps those from entering it that arrive after the deletion:
 * correct in any order and on any repetition.
 */
export async function forgetMessages(tx: Tx, messages: readonly DeletedMessage[]): Promise<void> {
  if (messages.length === 0) return
  const given = JSON.stringify(messages)
  await Promise.all([lockLog(tx), tx.query(REMEMBER, given), tx.query(FORGET, given)])
}
