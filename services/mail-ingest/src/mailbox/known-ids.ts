import { type Queryable, sql } from '@restante/service'
import type { MessageRow } from './rows.ts'
import { restrictedAmong } from './visibility.ts'

/** Columns by which a message is recognised: as the original of a duplicate, or as what a mail answers. */
export type KnownMessage = Pick<
  MessageRow,
  'message_id' | 'header_id' | 'thread_id' | 'sender_address' | 'digest' | 'labels' | 'created_at'
>

const HOLDERS = sql<KnownMessage, [inboxUid: string, ids: readonly string[]]>(`
select message_id, header_id, thread_id, sender_address, digest, labels, created_at
  from messages where inbox_uid = $1 and message_id = any($2)
union
select message_id, header_id, thread_id, sender_address, digest, labels, created_at
  from messages where inbox_uid = $1 and header_id = any($2)`)

/** The messages of an inbox that carry one of these ids, on the wire or in their header. */
export function messagesWithIds(db: Queryable, inboxUid: string, ids: readonly string[]): Promise<KnownMessage[]> {
  return db.query(HOLDERS, inboxUid, ids)
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
