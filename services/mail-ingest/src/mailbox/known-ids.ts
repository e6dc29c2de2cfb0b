import { type Queryable, sql } from '@restante/service'
import type { MessageRow } from './rows.ts'
import { restrictedAmong } from './visibility.ts'

/** Ids that may name messages of one inbox. */
export interface IdsOfInbox {
  readonly inbox_uid: string
  readonly ids: readonly string[]
}

/** Columns by which a message is recognised: as the original of a duplicate, or as what a mail answers. */
export type KnownMessage = Pick<
  MessageRow,
  'inbox_uid' | 'message_id' | 'header_id' | 'thread_id' | 'sender_address' | 'digest' | 'labels' | 'created_at'
>

const HOLDERS = sql<KnownMessage, [inboxUids: readonly string[], ids: readonly string[]]>(`
with wanted as (select distinct inbox_uid, id from unnest($1::uuid[], $2::text[]) as given(inbox_uid, id))
select m.inbox_uid, message_id, header_id, thread_id, sender_address, digest, labels, created_at
  from wanted join messages as m on m.inbox_uid = wanted.inbox_uid and m.message_id = wanted.id
union
select m.inbox_uid, message_id, header_id, thread_id, sender_address, digest, labels, created_at
  from wanted join messages as m on m.inbox_uid = wanted.inbox_uid and m.header_id = wanted.id`)

/** The messages that carry one of these ids of their inbox, on the wire or in their header. */
export function messagesWithIds(db: Queryable, wanted: readonly IdsOfInbox[]): Promise<KnownMessage[]> {
  const pairs = wanted.flatMap(({ inbox_uid, ids }) => ids.map((id) => ({ inbox_uid, id })))
  return db.query(
    HOLDERS,
    pairs.map(({ inbox_uid }) => inbox_uid),
    pairs.map(({ id }) => id),
  )
}

/** Whether a mail is already there: the same id, sender and decoded body (mail 2). */
export function isDuplicate(
  mail: Pick<KnownMessage, 'header_id' | 'sender_address' | 'digest'>,
  known: readonly KnownMessage[],
): boolean {
  return known.some(
    (message) =>
      message.header_id === mail.header_id &&
      message.sender_address === mail.sender_address &&
      message.digest === mail.digest,
  )
}

/**
 * The thread that a mail joins: that of the first id, best first, which names a stored message. An id that several
 * carry names the newest of them without a restricted label, so that forging an id does not draw answers into a
 * forger's thread (mail 13.1).
 */
export function threadOf(candidates: readonly string[], known: readonly KnownMessage[]): string | undefined {
  for (const id of candidates) {
    const holders = known
      .filter((message) => message.message_id === id || message.header_id === id)
      .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
    const holder = holders.find(({ labels }) => restrictedAmong(labels).length === 0) ?? holders[0]
    if (holder) return holder.thread_id
  }
  return undefined
}
