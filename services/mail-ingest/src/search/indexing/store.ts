import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { ScopeColumns, StoredAttachment } from '../../mailbox/rows/rows.ts'
import { periodsOf } from './period.ts'

const { bodyText, documentText } = LIMITS.search

/** What is indexed of a message. */
export interface IndexedMessage extends Omit<ScopeColumns, 'inbox_address'> {
  readonly id: string
  readonly thread_id: string
  readonly timestamp: Date
  readonly sender: string
  readonly recipients: string
  readonly subject: string | null
  readonly attachments: readonly StoredAttachment[]
  readonly body: string | null
  /** Its html, where search is to read that: it was stored by a release that searched a blank text beside html. */
  readonly html: string | null
  /** Text of its attachments, as far as they are read. */
  readonly documents: string | null
}

/** A row of `searchable`, as it is written. */
export interface SearchableEntry {
  readonly message: IndexedMessage
  /** Folded. */
  readonly subject: string
  /** Sender and recipients, folded; one a line. */
  readonly people: string
  readonly terms: readonly number[]
  readonly languages: readonly string[]
  /** What its html shows, where search is to read that, and it is not stored yet. */
  readonly words?: string
}

/** A message that a search may find is none with a restricted label. */
const HIDDEN = `labels && array['spam', 'blocked', 'unauthenticated', 'trash']`

/**
 * The text of a body that is searched: what the message added, or else all of it (mail 17). The text of the html is stored
 * only where the others are absent or blank, so it is first: which text is blank is decided in one place.
 */
export const SEARCHED_BODY = `left(coalesce(search_text, nullif(extracted_text, ''), text), $2)`

/** White space as in JavaScript, so that the same texts are blank here and where mail is stored. */
const BLANKS =
  '\\t\\n\\x0b\\f\\r \\u00a0\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006\\u2007\\u2008\\u2009\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'

/** Must be the same text as in the partial index `message_bodies_unread_html`; otherwise PostgreSQL does not use it. */
const UNREAD_HTML = `html is not null and search_text is null
   and (text is null or octet_length(text) <= 1000 and btrim(text, E'${BLANKS}') = '')`

/** The texts of a message's attachments that are searched: the first characters of all of them together. */
export const SEARCHED_DOCUMENTS = `(select left(string_agg(left(text, $3), E'\\n' order by position), $3)
          from attachment_texts where message_uid = messages.id and state = 'read')`

/** The text of a message that is searched apart from its header and its attachments: its body, and their names. */
export function searchedText({ body, attachments }: Pick<IndexedMessage, 'body' | 'attachments'>): string {
  const names = attachments.flatMap(({ filename }) => (filename === undefined ? [] : [filename]))
  return [body ?? '', ...names].join('\n').trim()
}

// The newest first, so that what arrives is found soon, also while every message is indexed again.
const NEXT = sql<{ id: string }, [rows: number]>(
  'select id from unindexed_messages order by id desc limit $1 for update skip locked',
)

// A change of labels waits for the lock, and then finds the entry. One that is being made is not waited for: its message
// is indexed in a later run.
const LOCK = sql<{ id: string; hidden: boolean }, [ids: readonly string[]]>(
  `select id, ${HIDDEN} as hidden from messages where id = any($1::uuid[]) for share skip locked`,
)

const DONE = sql<never, [ids: readonly string[]]>('delete from unindexed_messages where id = any($1::uuid[])')

const READ = sql<IndexedMessage, [ids: readonly string[], bodyCharacters: number, documentCharacters: number]>(`
select id, organization_id, pod_id, inbox_uid, thread_id, "timestamp", sender, recipients, subject, attachments,
       ${SEARCHED_BODY} as body, case when ${UNREAD_HTML} then left(html, ${LIMITS.mime.extractedHtml}) end as html, ${SEARCHED_DOCUMENTS} as documents
  from messages left join message_bodies using (id)
 where id = any($1::uuid[])`)

const WRITE = sql<
  never,
  [
    ids: readonly string[],
    organizations: readonly string[],
    pods: readonly string[],
    inboxes: readonly string[],
    threads: readonly string[],
    timestamps: readonly string[],
    periods: readonly string[],
    hidden: readonly boolean[],
    subjects: readonly string[],
    people: readonly string[],
    languages: readonly string[],
    terms: readonly string[],
  ]
>(`
insert into searchable (id, organization_id, pod_id, inbox_uid, thread_id, "timestamp", periods, hidden, subject, people, languages,
                        terms)
select id, organization_id, pod_id, inbox_uid, thread_id, "timestamp", periods::int4[], hidden, subject, people,
       languages::text[], terms::int4[]
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::text[], $8::bool[],
              $9::text[], $10::text[], $11::text[], $12::text[])
       as entry(id, organization_id, pod_id, inbox_uid, thread_id, "timestamp", periods, hidden, subject, people, languages, terms)
    on conflict (id) do update set hidden = excluded.hidden, subject = excluded.subject, people = excluded.people,
       languages = excluded.languages, terms = excluded.terms`)

const STORE_WORDS = sql<never, [ids: readonly string[], words: readonly string[]]>(`
update message_bodies set search_text = words
  from unnest($1::uuid[], $2::text[]) as given(id, words)
 where message_bodies.id = given.id`)

const QUEUE_UNREAD_HTML = sql<never, [rows: number]>(`
insert into unindexed_messages (id)
select id from message_bodies where ${UNREAD_HTML} limit $1
    on conflict do nothing`)

const BACKLOG = sql<{ waiting: number }>(
  'select count(*)::int as waiting from (select from unindexed_messages limit 100000) as counted',
)

export const searchable = {
  /**
   * Takes messages that wait to be indexed, at most `rows`, the newest first. They wait until their entry is written. Only their
   * places in the queue are locked: labels may change meanwhile, and a text that is added puts its message there again.
   */
  async take(tx: Tx, rows: number): Promise<IndexedMessage[]> {
    const next = await tx.query(NEXT, rows)
    if (next.length === 0) return []
    const ids = next.map(({ id }) => id)
    return tx.query(READ, ids, bodyText, documentText)
  },

  /**
   * Writes entries; when the transaction commits, their messages no longer wait. A message that is being changed is left for
   * later.
   * @returns how many were written.
   */
  async write(tx: Tx, made: readonly SearchableEntry[]): Promise<number> {
    const ids = made.map(({ message }) => message.id)
    const locked = new Map((await tx.query(LOCK, ids)).map((row) => [row.id, row]))
    const entries = made.flatMap((entry) => {
      const row = locked.get(entry.message.id)
      return row === undefined ? [] : [{ ...entry, hidden: row.hidden }]
    })
    if (entries.length === 0) return 0
    // After the messages themselves, as a deletion locks them: neither waits for the other in a circle.
    await storeWords(tx, entries)
    const of = <T>(value: (entry: (typeof entries)[number]) => T) => entries.map(value)
    await tx.query(
      DONE,
      of(({ message }) => message.id),
    )
    await tx.query(
      WRITE,
      of(({ message }) => message.id),
      of(({ message }) => message.organization_id),
      of(({ message }) => message.pod_id),
      of(({ message }) => message.inbox_uid),
      of(({ message }) => message.thread_id),
      of(({ message }) => message.timestamp.toISOString()),
      of(({ message }) => `{${periodsOf(message.organization_id, message.timestamp).join(',')}}`),
      of(({ hidden }) => hidden),
      of(({ subject }) => subject),
      of(({ people }) => people),
      of(({ languages }) => `{${languages.join(',')}}`),
      of(({ terms }) => `{${terms.join(',')}}`),
    )
    return entries.length
  },

  /** Has messages indexed again that were stored without the words of their html, at most `rows`. */
  async queueUnreadHtml(db: Queryable, rows: number): Promise<void> {
    await db.query(QUEUE_UNREAD_HTML, rows)
  },

  /** Messages that wait, at most 100,000. */
  async backlog(db: Queryable): Promise<number> {
    const [row] = await db.query(BACKLOG)
    return row?.waiting ?? 0
  },
}

/** Stores what the html of messages shows, which search then reads. */
async function storeWords(tx: Tx, entries: readonly SearchableEntry[]): Promise<void> {
  const read = entries.flatMap(({ message: { id }, words }) => (words === undefined ? [] : [{ id, words }]))
  if (read.length === 0) return
  await tx.query(
    STORE_WORDS,
    read.map(({ id }) => id),
    read.map(({ words }) => words),
  )
}
