import type { RecentSend } from '@restante/contracts/internal'
import { type SentCopy, sentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'

const COPY = sql<{ copy: unknown }, [inboxUid: string, messageIds: readonly string[]]>(`
select copy
  from sends
 where inbox_uid = $1 and message_id = any($2::text[]) and copy is not null
 order by array_position($2::text[], message_id)
 limit 1`)

const COLUMNS = 's.organization_id, s.pod_id, s.inbox_uid, s.message_id, s.thread_id'
// Messages of the system have no inbox, and nothing else that places a message in a mailbox.
const IS_PLACED =
  's.organization_id is not null and s.pod_id is not null and s.inbox_uid is not null and s.thread_id is not null'
const IS_RECENT = `s.copy is not null and s.accepted_at > now() - interval '${LIMITS.send.copyAwaited / 1_000} seconds' and ${IS_PLACED}`
/** Most missing messages of one thread per request; the rest arrives with its event. */
const MOST_OF_THREAD = 20

const RECENT_MESSAGES = sql<RecentSend, [inboxUids: readonly string[], messageIds: readonly string[]]>(`
select ${COLUMNS}
  from unnest($1::uuid[], $2::text[]) as wanted(inbox_uid, message_id)
  join sends as s on s.inbox_uid = wanted.inbox_uid and s.message_id = wanted.message_id
 where ${IS_RECENT}`)

const RECENT_OF_THREADS = sql<RecentSend, [organizationIds: readonly string[], threadIds: readonly string[]]>(`
select s.*
  from unnest($1::uuid[], $2::uuid[]) as wanted(organization_id, thread_id)
 cross join lateral (
   select ${COLUMNS} from sends as s
    where s.thread_id = wanted.thread_id and s.organization_id = wanted.organization_id and ${IS_RECENT}
    order by s.accepted_at limit ${MOST_OF_THREAD}) as s`)

/** What the mailbox stores of sent messages in addition to their bytes, kept as long as these. */
export const copies = {
  /** The copy of the first of these messages that the inbox sent. */
  async first(db: Queryable, inboxUid: string, messageIds: readonly string[]): Promise<SentCopy | undefined> {
    const [found] = await db.query(COPY, inboxUid, messageIds)
    return found && sentCopy.parse(found.copy)
  },

  /** Those of these messages that were accepted so recently that their copies may not be in their mailboxes yet. */
  recent(
    db: Queryable,
    messages: readonly { readonly inbox_uid: string; readonly message_id: string }[],
  ): Promise<RecentSend[]> {
    return db.query(
      RECENT_MESSAGES,
      messages.map(({ inbox_uid }) => inbox_uid),
      messages.map(({ message_id }) => message_id),
    )
  },

  /** The same for all messages of threads, each in its organization. */
  recentOfThreads(
    db: Queryable,
    threads: readonly { readonly organization_id: string; readonly thread_id: string }[],
  ): Promise<RecentSend[]> {
    return db.query(
      RECENT_OF_THREADS,
      threads.map(({ organization_id }) => organization_id),
      threads.map(({ thread_id }) => thread_id),
    )
  },
}
