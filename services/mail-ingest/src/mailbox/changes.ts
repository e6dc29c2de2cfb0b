import { type Queryable, sql } from '@restante/service/database'
import type { MessageRow } from './rows/rows.ts'

// Nulls change nothing.
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
 where messages.id = change.id`)

// In order of first appearance: messages from oldest to newest, the labels of each in their order. A message has at
// most 512 labels, so the factor 1000 keeps messages apart.
const UNITE_LABELS = sql<never, [threadIds: readonly string[], at: string]>(`
update threads set updated_at = $2::timestamptz, labels = coalesce((
  select array_agg(label order by first)
    from (select label, min(number * 1000 + ordinal) as first
            from (select labels, row_number() over (order by "timestamp", id) as number
                    from messages where thread_id = threads.id) as member,
                 unnest(member.labels) with ordinality as carried(label, ordinal)
           group by label) as seen), '{}')
 where id = any($1::uuid[])`)

// Search finds no message with a restricted label.
const FOLLOW_LABELS = sql<never, [ids: readonly string[]]>(`
update searchable set hidden = now_hidden
  from (select id as message, labels && array['spam', 'blocked', 'unauthenticated', 'trash'] as now_hidden
          from messages where id = any($1::uuid[])) as changed
 where id = message and hidden <> now_hidden`)

type Relabelled = Pick<MessageRow, 'id' | 'thread_id' | 'labels'>
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

/** Updates the union of a thread's labels. */
export async function uniteLabels(tx: Queryable, threadId: string, at: Date): Promise<void> {
  await tx.query(UNITE_LABELS, [threadId], at.toISOString())
}

/** Updates what depends on the labels of messages: their threads, each once, and what search finds. */
async function followLabels(tx: Queryable, messages: readonly Relabelled[], at: Date): Promise<void> {
  if (messages.length === 0) return
  const threads = [...new Set(messages.map(({ thread_id }) => thread_id))]
  await Promise.all([
    tx.query(UNITE_LABELS, threads, at.toISOString()),
    tx.query(
      FOLLOW_LABELS,
      messages.map(({ id }) => id),
    ),
  ])
}
