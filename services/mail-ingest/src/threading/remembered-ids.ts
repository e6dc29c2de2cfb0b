import { LIMITS, RESTRICTED_LABELS, type RestrictedLabel, restrictedAmong } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows/rows.ts'
import { organizationalDomain } from '../sender/judgement/domains.ts'
import type { ThreadChoice } from './carriers.ts'

/** An id that a mail of a thread referred to, the organizational domain of that mail's author, and facts about the thread. */
interface RememberedId {
  readonly inbox_uid: string
  readonly id: string
  readonly thread_id: string
  readonly domain: string
  /** Whether the thread has a restricted label: no mail joins it by the id then. */
  readonly restricted: boolean
  /** Whether the inbox has sent a message in the thread. */
  readonly answered: boolean
}

const KEPT_SECONDS = LIMITS.retention.rememberedId / 1_000
/**
 * Most threads considered for one id, oldest first. Several threads remember an id to which mails of several domains
 * referred.
 */
const MOST_WITH_ONE_ID = 100
const MOST_OF_DOMAIN = 253

const REMEMBERED = sql<
  RememberedId,
  [inboxUids: readonly string[], ids: readonly string[], restricted: readonly RestrictedLabel[]]
>(`
with wanted as (select distinct inbox_uid, id from unnest($1::uuid[], $2::text[]) as given(inbox_uid, id))
select found.inbox_uid, found.id, thread_id, domain, threads.labels && $3::text[] as restricted,
       sent_timestamp is not null as answered
  from wanted cross join lateral (
    select * from remembered_ids as r
     where r.inbox_uid = wanted.inbox_uid and r.id = wanted.id
       and remembered_at > now() - interval '${KEPT_SECONDS} seconds'
     order by position limit ${MOST_WITH_ONE_ID}) as found
  join threads on threads.id = thread_id
 order by position`)

// Inserted in the given order, so that the newest ids of a thread have the highest positions.
const REMEMBER = sql<
  never,
  [inboxUids: readonly string[], ids: readonly string[], threadIds: readonly string[], domains: readonly string[]]
>(`
insert into remembered_ids (inbox_uid, id, thread_id, domain, remembered_at)
select inbox_uid, id, thread_id, domain, now()
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) with ordinality
       as named(inbox_uid, id, thread_id, domain, number)
 order by number
on conflict (inbox_uid, id, thread_id, domain) do update
   set position = excluded.position, remembered_at = excluded.remembered_at`)

const TRIM = sql<never, [threadIds: readonly string[]]>(`
delete from remembered_ids as old
 using (select thread_id, position, row_number() over (partition by thread_id order by position desc) as place
          from remembered_ids where thread_id = any($1::uuid[])) as numbered
 where place > ${LIMITS.inbound.rememberedIds}
   and old.thread_id = numbered.thread_id and old.position = numbered.position`)

/**
 * Ids that mails referred to and that no message of the inbox has: mailing systems use ids that are never sent, and
 * answers may arrive before the message that they answer. Only mail without a restricted label adds such ids and joins
 * threads by them (mail 13.1).
 */
export class RememberedIds {
  readonly #byId = new Map<string, RememberedId[]>()
  readonly #named = new Map<string, RememberedId>()

  private constructor(found: readonly RememberedId[]) {
    for (const one of found) this.#add(one)
  }

  /** Reads the threads that remember an id which one of these mails refers to or has. */
  static async of(
    db: Queryable,
    mails: readonly { readonly message: MessageRow; readonly named: readonly string[] }[],
  ): Promise<RememberedIds> {
    const pairs = mails
      .filter(({ message }) => isTrusted(message))
      .flatMap(({ message: { inbox_uid, header_id }, named }) => [...named, header_id].map((id) => ({ inbox_uid, id })))
    if (pairs.length === 0) return new RememberedIds([])
    const found = await db.query(
      REMEMBERED,
      pairs.map(({ inbox_uid }) => inbox_uid),
      pairs.map(({ id }) => id),
      RESTRICTED_LABELS,
    )
    return new RememberedIds(found)
  }

  /**
   * The thread of a mail that refers to no stored message: one in which an author of the same organizational domain
   * referred to one of the same ids, best first, or in which its own Message-ID was referred to, by any author.
   */
  find(mail: MessageRow, named: readonly string[], choice: ThreadChoice): RememberedId | undefined {
    if (!isTrusted(mail)) return undefined
    const candidates = (id: string) =>
      this.#with(mail.inbox_uid, id).filter(({ restricted }) => choice === 'any labels' || !restricted)
    const domain = domainOfAuthor(mail)
    for (const id of domain === '' ? [] : named) {
      const match = candidates(id).find((one) => one.domain === domain)
      if (match) return match
    }
    return candidates(mail.header_id)[0]
  }

  /**
   * Remembers the ids that a mail refers to, best first, with its thread; also for later mails of this transaction.
   * @param answered whether the inbox has sent a message in its thread
   */
  add(
    { inbox_uid, thread_id, sender_address, ...message }: MessageRow,
    named: readonly string[],
    answered: boolean,
  ): void {
    if (!isTrusted(message)) return
    const domain = domainOfAuthor({ sender_address })
    for (const id of named.slice(0, LIMITS.inbound.rememberedIds).reverse()) {
      const key = JSON.stringify([inbox_uid, id, thread_id, domain])
      const one = { inbox_uid, id, thread_id, domain, restricted: false, answered }
      // An id that is referred to again becomes the newest.
      this.#named.delete(key)
      this.#named.set(key, one)
      this.#add(one)
    }
  }

  /** Saves the added ids. The threads must be stored. */
  async save(tx: Queryable): Promise<void> {
    const rows = [...this.#named.values()]
    if (rows.length === 0) return
    const remember = tx.query(
      REMEMBER,
      rows.map(({ inbox_uid }) => inbox_uid),
      rows.map(({ id }) => id),
      rows.map(({ thread_id }) => thread_id),
      rows.map(({ domain }) => domain),
    )
    await Promise.all([remember, tx.query(TRIM, [...new Set(rows.map(({ thread_id }) => thread_id))])])
  }

  #with(inboxUid: string, id: string): readonly RememberedId[] {
    return this.#byId.get(`${inboxUid} ${id}`) ?? []
  }

  #add(one: RememberedId): void {
    const key = `${one.inbox_uid} ${one.id}`
    this.#byId.set(key, [...(this.#byId.get(key) ?? []), one])
  }
}

function isTrusted({ labels }: Pick<MessageRow, 'labels'>): boolean {
  return restrictedAmong(labels).length === 0
}

/**
 * A domain has at most 253 characters (RFC 1035 2.3.4); a longer text is not a domain, and would not fit into the
 * index.
 */
function domainOfAuthor({ sender_address }: Pick<MessageRow, 'sender_address'>): string {
  const domain = organizationalDomain(sender_address)
  return domain.length > MOST_OF_DOMAIN ? '' : domain
}
