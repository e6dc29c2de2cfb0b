import { LIMITS, SYSTEM_LABELS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { MessageRow } from './rows/rows.ts'

// Nulls change nothing. Rows are found one by one (decision 110).
const CHANGE = sql<never, [rows: string, at: string]>(`
update messages
   set labels = coalesce(change.labels, messages.labels),
       updated_at = case when change.labels is null then updated_at else $2::timestamptz end,
       handed_over_at = least(messages.handed_over_at, change.handed_over_at),
       settled_at = greatest(messages.settled_at, change.settled_at),
       delayed_at = greatest(messages.delayed_at, change.delayed_at),
       opened_at = least(messages.opened_at, change.opened_at)
  from json_to_recordset($1::json) as change(id uuid, labels text[], handed_over_at timestamptz, settled_at timestamptz,
                                             delayed_at timestamptz, opened_at timestamptz)
 where messages.id = any(array[change.id])`)

const { list, listBytes } = LIMITS.thread
const SYSTEM = `array[${SYSTEM_LABELS.map((label) => `'${label}'`).join(', ')}]`
/** As `unitedLabels`: whether a label is one of the first of its thread, with its place among them and their bytes. */
const IS_KEPT = `(label = any(${SYSTEM}) or (number <= ${list} and bytes <= ${listBytes}))`

// In order of first appearance: messages from oldest to newest, the labels of each in their order. A message has at
// most 512 labels, so the factor 1000 keeps messages apart.
const UNITE = `
update threads set updated_at = $2::timestamptz, labels = coalesce((
  select array_agg(label order by first)
    from (select label, first, row_number() over by_first as number, sum(octet_length(label)) over by_first as bytes
            from (select label, min(number * 1000 + ordinal) as first
                    from (select labels, row_number() over (order by "timestamp", id) as number
                            from messages where thread_id = threads.id) as member,
                         unnest(member.labels) with ordinality as carried(label, ordinal)
                   group by label) as seen
          window by_first as (order by first)) as measured
   where ${IS_KEPT}), '{}')`

const UNITE_LABELS = sql<never, [threadId: string, at: string]>(`${UNITE} where id = $1`)

/** Messages of a thread that are all read when labels of one change. */
const SHORT_THREAD = 100

const UNITE_SHORT_THREADS = sql<never, [threadIds: readonly string[], at: string]>(
  `${UNITE} where id = any($1::uuid[]) and message_count <= ${SHORT_THREAD}`,
)

// A thread loses a label with the last of its messages that has it. What is added is known, and so no other message of a long
// thread is read: it may have any number of them, with hundreds of labels each. There a new label comes after all others.
const FOLLOW_LONG_THREADS = sql<never, [threads: string, at: string]>(`
update threads
   set updated_at = $2::timestamptz,
       labels = remaining || array(
         select label
           from (select label, place, cardinality(remaining) + row_number() over by_place as number,
                        remaining_bytes + sum(octet_length(label)) over by_place as bytes
                   from unnest(added) with ordinality as given(label, place)
                  where label <> all(remaining)
                 window by_place as (order by place)) as new
          where ${IS_KEPT} order by place)
  from (select thread.id as thread_id, change.added, kept.remaining, kept.remaining_bytes
          from json_to_recordset($1::json) as change(id uuid, added text[], removed text[])
               join threads as thread using (id) cross join lateral (
                 select coalesce(array_agg(label order by place), '{}') as remaining,
                        coalesce(sum(octet_length(label)), 0) as remaining_bytes
                   from unnest(thread.labels) with ordinality as present(label, place)
                  where label <> all(change.removed)
                     or exists (select from messages where messages.thread_id = thread.id and label = any(messages.labels))
               ) as kept
         where thread.message_count > ${SHORT_THREAD}) as followed
 where id = followed.thread_id`)

// Search finds no message with a restricted label.
const FOLLOW_LABELS = sql<never, [ids: readonly string[]]>(`
update searchable set hidden = now_hidden
  from (select id as message, labels && array['spam', 'blocked', 'unauthenticated', 'trash'] as now_hidden
          from messages where id = any($1::uuid[])) as changed
 where id = any(array[message]) and hidden <> now_hidden`)

/** A message with its labels after a change, and before it. */
type Relabelled = Pick<MessageRow, 'id' | 'thread_id' | 'labels'> & { readonly before: readonly string[] }
type MessageProgress = Pick<MessageRow, 'handed_over_at' | 'settled_at' | 'delayed_at' | 'opened_at'>

/** Sets the labels of messages and updates each of their threads once. */
export async function setLabels(tx: Queryable, messages: readonly Relabelled[], at: Date): Promise<void> {
  if (messages.length === 0) return
  const rows = messages.map(({ id, labels }) => ({ id, labels }))
  await Promise.all([tx.query(CHANGE, JSON.stringify(rows), at.toISOString()), followLabels(tx, messages, at)])
}

/** Notes how far sent messages have come, and sets the labels of those that this has changed. */
export async function noteProgress(
  tx: Queryable,
  messages: readonly (Relabelled & MessageProgress & { readonly isRelabelled: boolean })[],
  at: Date,
): Promise<void> {
  if (messages.length === 0) return
  const rows = messages.map(({ id, labels, isRelabelled, handed_over_at, settled_at, delayed_at, opened_at }) => ({
    ...{ id, handed_over_at, settled_at, delayed_at, opened_at },
    ...(isRelabelled && { labels }),
  }))
  const relabelled = messages.filter(({ isRelabelled }) => isRelabelled)
  await Promise.all([tx.query(CHANGE, JSON.stringify(rows), at.toISOString()), followLabels(tx, relabelled, at)])
}

/** Makes the union of a thread's labels again, from all of its messages. */
export async function uniteLabels(tx: Queryable, threadId: string, at: Date): Promise<void> {
  await tx.query(UNITE_LABELS, threadId, at.toISOString())
}

/** Updates what depends on the labels of messages: their threads, each once, and what search finds. */
async function followLabels(tx: Queryable, messages: readonly Relabelled[], at: Date): Promise<void> {
  if (messages.length === 0) return
  const threads = changesOfThreads(messages)
  await Promise.all([
    tx.query(
      UNITE_SHORT_THREADS,
      threads.map(({ id }) => id),
      at.toISOString(),
    ),
    tx.query(FOLLOW_LONG_THREADS, JSON.stringify(threads), at.toISOString()),
    tx.query(
      FOLLOW_LABELS,
      messages.map(({ id }) => id),
    ),
  ])
}

/** What the changes of messages add to their threads, and may take from them. */
function changesOfThreads(messages: readonly Relabelled[]) {
  return [...Map.groupBy(messages, ({ thread_id }) => thread_id)].map(([id, members]) => {
    const added = new Set(members.flatMap(({ labels, before }) => labels.filter((label) => !before.includes(label))))
    const removed = new Set(members.flatMap(({ labels, before }) => before.filter((label) => !labels.includes(label))))
    return { id, added: [...added], removed: [...removed] }
  })
}
