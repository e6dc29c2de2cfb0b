import { type Queryable, sql } from '@restante/service/database'

interface SentMessage {
  readonly inbox_uid: string
  readonly message_id: string
}

const MISSING = sql<SentMessage, [inboxUids: readonly string[], messageIds: readonly string[]]>(`
select inbox_uid, message_id
  from unnest($1::uuid[], $2::text[]) as sent(inbox_uid, message_id)
 where not exists (select from messages m where m.inbox_uid = sent.inbox_uid and m.message_id = sent.message_id)
   and not exists (select from tombstones t where t.inbox_uid = sent.inbox_uid and t.message_id = sent.message_id)
   and not exists (select from deleted_scopes d where d.id = sent.inbox_uid and d.kind = 'inbox')`)

/** Those of the messages that have no copy, and whose copy was not deleted either. */
export function missingCopies(db: Queryable, messages: readonly SentMessage[]): Promise<SentMessage[]> {
  return db.query(
    MISSING,
    messages.map(({ inbox_uid }) => inbox_uid),
    messages.map(({ message_id }) => message_id),
  )
}
