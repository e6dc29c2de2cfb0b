import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'

/** An attachment that this process may read until its lease ends. */
export interface LeasedAttachment {
  readonly message_uid: string
  readonly attachment_id: string
  readonly organization_id: string
  readonly lease_id: string
  /** Including this attempt. */
  readonly attempts: number
  readonly blob: string
  readonly attachments: readonly StoredAttachment[]
}

type Leased = Pick<LeasedAttachment, 'message_uid' | 'attachment_id' | 'lease_id'>
const keyOf = ({ message_uid, attachment_id, lease_id }: Leased) => [message_uid, attachment_id, lease_id] as const

/** Reading may take four times its processor time, after the bytes were fetched. */
const LEASE_SECONDS = (6 * LIMITS.document.time) / 1_000

/** Documents of one organization that are considered: others of the installation may be taking some of them just now. */
const CONTENDED = 8

// The oldest of each organization, found by a loose index scan, so that many documents of one do not hold up the others.
// Organizations whose documents were read last come last.
const TAKE = sql<LeasedAttachment, [leaseId: string, served: readonly string[]]>(`
with recursive owner as (
  (select organization_id from attachment_texts where state = 'waiting' order by organization_id limit 1)
  union all
  select next.organization_id
    from owner, lateral (select organization_id from attachment_texts
                          where state = 'waiting' and organization_id > owner.organization_id
                          order by organization_id limit 1) as next
), due as (
  select waiting.message_uid, waiting.attachment_id
    from owner, lateral (select message_uid, attachment_id, position from attachment_texts as oldest
                          where state = 'waiting' and oldest.organization_id = owner.organization_id and due_at <= now()
                          order by position limit ${CONTENDED}) as waiting
    join attachment_texts using (message_uid, attachment_id)
   where attachment_texts.state = 'waiting' and attachment_texts.due_at <= now()
   order by coalesce(array_position($2::uuid[], owner.organization_id), 0), waiting.position
   limit 1
     for update of attachment_texts skip locked)
update attachment_texts as taken
   set attempts = taken.attempts + 1, lease_id = $1, due_at = now() + interval '${LEASE_SECONDS} seconds'
  from due join messages on messages.id = due.message_uid
 where taken.message_uid = due.message_uid and taken.attachment_id = due.attachment_id
returning taken.message_uid, taken.attachment_id, taken.organization_id, taken.lease_id, taken.attempts, messages.blob,
          messages.attachments`)

// Before its rows in other tables, as a deletion locks them: neither waits for the other in a circle.
const LOCK = sql<{ id: string }, [messageUid: string]>('select id from messages where id = $1 for no key update')

const FINISH = sql<
  { state: string },
  [
    messageUid: string,
    attachmentId: string,
    leaseId: string,
    state: 'read' | 'unreadable',
    reason: string | null,
    text: string | null,
  ]
>(`
update attachment_texts set state = $4, reason = $5, text = $6, lease_id = null
 where message_uid = $1 and attachment_id = $2 and lease_id = $3
returning state`)

// Waits for the indexer when it has taken the message from its queue, perhaps before this text was there to be read.
const INDEX_AGAIN = sql<never, [messageUid: string]>(
  'insert into unindexed_messages (id) values ($1) on conflict (id) do update set id = excluded.id',
)

const FORGET = sql<never, [messageUid: string, attachmentId: string, leaseId: string]>(
  'delete from attachment_texts where message_uid = $1 and attachment_id = $2 and lease_id = $3',
)

const GIVE_BACK = sql<
  never,
  [messageUid: string, attachmentId: string, leaseId: string, uncounted: number, waitMs: number]
>(`
update attachment_texts
   set lease_id = null, attempts = attempts - $4, due_at = now() + make_interval(secs => $5 / 1000.0)
 where message_uid = $1 and attachment_id = $2 and lease_id = $3`)

const BACKLOG = sql<{ waiting: number }>(
  `select count(*)::int as waiting from (select from attachment_texts where state = 'waiting' limit 100000) as counted`,
)

const IS_READ = sql<{ state: string }, [messageUid: string, attachmentId: string]>(
  `select state from attachment_texts where message_uid = $1 and attachment_id = $2 and state = 'read'`,
)

const TEXT = sql<{ text: string | null }, [messageUid: string, attachmentId: string]>(
  `select text from attachment_texts where message_uid = $1 and attachment_id = $2 and state = 'read'`,
)

export const attachmentTexts = {
  /** Takes the next attachment that waits, and counts an attempt. @param served organizations whose turn comes later */
  async take(db: Queryable, leaseId: string, served: readonly string[]): Promise<LeasedAttachment | undefined> {
    const [taken] = await db.query(TAKE, leaseId, served)
    return taken
  },

  /** Stores the text of a document, and has search read its message again. It has no effect after the lease was lost. */
  async save(tx: Tx, leased: LeasedAttachment, text: string): Promise<void> {
    await tx.query(LOCK, leased.message_uid)
    const saved = await tx.query(FINISH, ...keyOf(leased), 'read', null, text)
    if (saved.length > 0) await tx.query(INDEX_AGAIN, leased.message_uid)
  },

  /** Records that a document will not be read again. */
  async giveUp(db: Queryable, leased: LeasedAttachment, reason: string): Promise<void> {
    await db.query(FINISH, ...keyOf(leased), 'unreadable', reason, null)
  },

  /** Forgets an attachment that is no document. */
  async forget(db: Queryable, leased: LeasedAttachment): Promise<void> {
    await db.query(FORGET, ...keyOf(leased))
  },

  /** Lets an attachment be taken again. @param counts whether the attempt does, because the document may be at fault */
  async giveBack(db: Queryable, leased: LeasedAttachment, counts: boolean, waitMs: number): Promise<void> {
    await db.query(GIVE_BACK, ...keyOf(leased), counts ? 0 : 1, waitMs)
  },

  /** How many wait, at most 100,000. */
  async backlog(db: Queryable): Promise<number> {
    const [row] = await db.query(BACKLOG)
    return row?.waiting ?? 0
  },

  /** Whether an attachment has a text. */
  async exists(db: Queryable, messageUid: string, attachmentId: string): Promise<boolean> {
    return (await db.query(IS_READ, messageUid, attachmentId)).length > 0
  },

  /** The text of an attachment. */
  async text(db: Queryable, messageUid: string, attachmentId: string): Promise<string | undefined> {
    const [row] = await db.query(TEXT, messageUid, attachmentId)
    return row?.text ?? undefined
  },
}
