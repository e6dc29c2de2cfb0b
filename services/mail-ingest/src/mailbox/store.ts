import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { BodyColumns, MessageRow, ThreadRow, ThreadTotals } from './rows/rows.ts'
import type { ThreadMember } from './thread-totals.ts'

const SAVE_THREADS = sql<never, [rows: string]>(`
insert into threads select * from json_populate_recordset(null::threads, $1::json)
on conflict (id) do update set
  labels = excluded.labels, "timestamp" = excluded."timestamp", received_timestamp = excluded.received_timestamp,
  sent_timestamp = excluded.sent_timestamp, senders = excluded.senders, recipients = excluded.recipients,
  sender_lines = excluded.sender_lines, recipient_lines = excluded.recipient_lines, subject = excluded.subject,
  preview = excluded.preview, attachments = excluded.attachments, last_message_id = excluded.last_message_id,
  message_count = excluded.message_count, size = excluded.size, updated_at = excluded.updated_at`)

/** Columns of a thread as in `ThreadRow`. */
export const THREAD_COLUMNS = `id, organization_id, pod_id, inbox_uid, inbox_address, labels, "timestamp", received_timestamp,
  sent_timestamp, senders, recipients, subject, preview, attachments, last_message_id, message_count,
  size::float8 as size, created_at, updated_at`

const THREADS = sql<ThreadRow, [ids: readonly string[]]>(`select ${THREAD_COLUMNS} from threads where id = any($1)`)

// Only as many as may be read at once. Their size is estimated from the uncompressed length of the recipients, which
// PostgreSQL knows without reading them, and the compressed length of the attachments.
const NEWEST_MEMBERS = sql<ThreadMember, [threadId: string]>(`
select id, message_id, direction, labels, "timestamp", sender, "to", cc, bcc, subject, preview, attachments, size
  from (select *, sum(octet_length(recipients) + 16 * pg_column_size(attachments))
                    over (order by "timestamp" desc, id desc rows between unbounded preceding and 1 preceding) as bytes
          from (select * from messages where thread_id = $1
                 order by "timestamp" desc, id desc limit ${LIMITS.thread.messages}) as newest) as measured
 where bytes is null or bytes < ${LIMITS.thread.messageBytes}
 order by "timestamp", id`)

type FirstMember = Pick<ThreadMember, 'id' | 'timestamp' | 'subject'>

const FIRST_MEMBER = sql<FirstMember, [threadId: string]>(
  'select id, "timestamp", subject from messages where thread_id = $1 order by "timestamp", id limit 1',
)

type ThreadCounts = Pick<ThreadTotals, 'message_count' | 'size' | 'received_timestamp' | 'sent_timestamp'>

const COUNTS = sql<ThreadCounts, [threadId: string]>(`
select count(*)::int as message_count, coalesce(sum(size), 0)::float8 as size,
       max("timestamp") filter (where direction = 'received') as received_timestamp,
       max("timestamp") filter (where direction = 'sent') as sent_timestamp
  from messages where thread_id = $1`)

// The oldest of the messages from which the lists of a thread are made, if it has more than these.
const OLDEST_LISTED = sql<{ timestamp: Date }, [threadId: string]>(`
select "timestamp" from messages where thread_id = $1
 order by "timestamp" desc, id desc offset ${LIMITS.thread.messages - 1} limit 1`)

// Deletions add no label, so it suffices to find the first message of each. Nearly always that is among the oldest.
const WITHDRAW_UNLISTED = sql<
  never,
  [threadId: string, messages: number, bytes: number, at: string, attachmentIds: readonly string[]]
>(`
update threads
   set message_count = message_count - $2, size = size - $3::bigint, updated_at = $4::timestamptz,
       attachments = coalesce((
         select jsonb_agg(file order by place) from jsonb_array_elements(attachments) with ordinality as listed(file, place)
          where file->>'attachment_id' <> all($5::text[])), '[]'),
       subject = (select subject from messages where thread_id = $1 order by "timestamp", id limit 1),
       labels = coalesce((
         select array_agg(label order by first."timestamp", first.id, first.place)
           from unnest(threads.labels) as label
          cross join lateral (
            select "timestamp", id, array_position(message.labels, label) as place
              from messages as message where thread_id = $1 and label = any(message.labels)
             order by "timestamp", id limit 1) as first), '{}')
 where id = $1`)

const DELETE_THREAD = sql<never, [id: string]>('delete from threads where id = $1')

const MESSAGE = sql<MessageRow, [inboxUid: string, messageId: string]>(
  'select * from messages where inbox_uid = $1 and message_id = $2',
)

const MESSAGES = sql<MessageRow, [inboxUid: string, messageIds: readonly string[]]>(
  'select * from messages where inbox_uid = $1 and message_id = any($2)',
)

const MESSAGES_OF_INBOXES = sql<MessageRow, [inboxUids: readonly string[], messageIds: readonly string[]]>(
  `select messages.* from unnest($1::uuid[], $2::text[]) as wanted(inbox_uid, message_id)
   join messages using (inbox_uid, message_id)`,
)

const OF_THREAD = sql<MessageRow, [threadId: string, rows: number]>(
  'select * from messages where thread_id = $1 order by "timestamp", id limit $2',
)

/** What the deletion of a message needs of it: none of the lists that senders may make long. */
export type DeletableRow = Pick<
  MessageRow,
  | 'id'
  | 'organization_id'
  | 'pod_id'
  | 'inbox_uid'
  | 'inbox_address'
  | 'thread_id'
  | 'message_id'
  | 'direction'
  | 'labels'
  | 'timestamp'
  | 'size'
  | 'blob'
> & { readonly attachment_ids: readonly string[] }

const DELETABLE_OF_THREAD = sql<DeletableRow, [threadId: string, rows: number]>(`
select id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, direction, labels, "timestamp", size, blob,
       array(select file->>'attachment_id' from jsonb_array_elements(attachments) as file) as attachment_ids
  from messages where thread_id = $1 order by "timestamp", id limit $2`)

const BODY = sql<BodyColumns, [id: string]>(
  'select text, html, extracted_text, extracted_html, search_text, headers from message_bodies where id = $1',
)

const DELETE_MESSAGES = sql<never, [ids: readonly string[]]>('delete from messages where id = any($1::uuid[])')

export const store = {
  /** Inserts or replaces threads. Each of them must be given once only. */
  async saveThreads(tx: Queryable, threads: readonly ThreadRow[]): Promise<void> {
    const rows = threads.map((thread) => ({
      ...thread,
      sender_lines: thread.senders.join('\n'),
      recipient_lines: thread.recipients.join('\n'),
    }))
    await tx.query(SAVE_THREADS, JSON.stringify(rows))
  },

  /** Those of the given threads that exist. */
  threads(db: Queryable, ids: readonly string[]): Promise<ThreadRow[]> {
    return db.query(THREADS, ids)
  },

  async thread(db: Queryable, id: string): Promise<ThreadRow | undefined> {
    const [row] = await db.query(THREADS, [id])
    return row
  },

  /** The newest messages of a thread, oldest first: those from which its lists are made. */
  newestMembers(db: Queryable, threadId: string): Promise<ThreadMember[]> {
    return db.query(NEWEST_MEMBERS, threadId)
  },

  /** The oldest message of a thread, if it has one. */
  firstMember(db: Queryable, threadId: string): Promise<FirstMember[]> {
    return db.query(FIRST_MEMBER, threadId)
  },

  /** Totals over all messages of a thread. */
  async counts(db: Queryable, threadId: string): Promise<ThreadCounts | undefined> {
    const [counts] = await db.query(COUNTS, threadId)
    return counts
  },

  /** Since when a thread's messages are those from which its lists are made; undefined if that is all of them. */
  async listedSince(db: Queryable, threadId: string): Promise<Date | undefined> {
    const [row] = await db.query(OLDEST_LISTED, threadId)
    return row?.timestamp
  },

  /**
   * Updates a thread of which messages were deleted that are older than those of which its lists are made, nor the newest
   * received or sent one, at a cost that does not grow with the thread. Of files, older ones may be listed, too.
   */
  async withdrawUnlisted(
    tx: Queryable,
    threadId: string,
    deleted: { readonly messages: number; readonly bytes: number; readonly attachmentIds: readonly string[] },
    at: Date,
  ): Promise<void> {
    const { messages, bytes, attachmentIds } = deleted
    await tx.query(WITHDRAW_UNLISTED, threadId, messages, bytes, at.toISOString(), attachmentIds)
  },

  async deleteThread(tx: Queryable, id: string): Promise<void> {
    await tx.query(DELETE_THREAD, id)
  },

  async message(db: Queryable, inboxUid: string, messageId: string): Promise<MessageRow | undefined> {
    const [row] = await db.query(MESSAGE, inboxUid, messageId)
    return row
  },

  /** Those of the given messages that exist. */
  messages(db: Queryable, inboxUid: string, messageIds: readonly string[]): Promise<MessageRow[]> {
    return db.query(MESSAGES, inboxUid, messageIds)
  },

  /** Those of the given messages, of several inboxes, that exist. */
  messagesOfInboxes(
    db: Queryable,
    wanted: readonly Pick<MessageRow, 'inbox_uid' | 'message_id'>[],
  ): Promise<MessageRow[]> {
    return db.query(
      MESSAGES_OF_INBOXES,
      wanted.map(({ inbox_uid }) => inbox_uid),
      wanted.map(({ message_id }) => message_id),
    )
  },

  /** The oldest messages of a thread, at most `rows`. */
  ofThread(db: Queryable, threadId: string, rows: number): Promise<MessageRow[]> {
    return db.query(OF_THREAD, threadId, rows)
  },

  /** The same, as far as their deletion needs them. */
  deletableOfThread(db: Queryable, threadId: string, rows: number): Promise<DeletableRow[]> {
    return db.query(DELETABLE_OF_THREAD, threadId, rows)
  },

  async body(db: Queryable, id: string): Promise<BodyColumns> {
    const [row] = await db.query(BODY, id)
    return row ?? { text: null, html: null, extracted_text: null, extracted_html: null, search_text: null, headers: {} }
  },

  async deleteMessages(tx: Queryable, ids: readonly string[]): Promise<void> {
    await tx.query(DELETE_MESSAGES, ids)
  },
}
