import { RESTRICTED_LABELS, type RestrictedLabel, restrictedAmong } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows/rows.ts'

/** A stored message that an id may refer to, and facts about its thread. */
export interface Carrier extends Pick<MessageRow, 'id' | 'inbox_uid' | 'message_id' | 'header_id' | 'thread_id'> {
  readonly direction: MessageRow['direction']
  /** The restricted labels of its thread. */
  readonly restricted: readonly RestrictedLabel[]
  /** Whether the inbox has sent a message in its thread. */
  readonly answered: boolean
}

/** Which threads a look-up considers: those that a mail may join, or all. */
export type ThreadChoice = 'same labels' | 'any labels'

/** Ids that may refer to messages of one inbox. */
export interface IdsOfInbox {
  readonly inbox_uid: string
  readonly ids: readonly string[]
}

/** Most messages considered that have one Message-ID, oldest first, and most of them with the same set of labels. */
const MOST_WITH_ONE_ID = 1_000
const MOST_OF_ONE_KIND = 20

// Many messages may have one id, because any header can contain it. The oldest messages with each set of labels are
// read, so that a flood of forged copies does not displace the genuine ones.
const CARRIERS = sql<
  Carrier,
  [inboxUids: readonly string[], ids: readonly string[], restricted: readonly RestrictedLabel[]]
>(`
with wanted as (select distinct inbox_uid, id from unnest($1::uuid[], $2::text[]) as given(inbox_uid, id)),
named as (
  select wanted.id as name, m.id, m.inbox_uid, message_id, header_id, thread_id, direction
    from wanted join messages as m on m.inbox_uid = wanted.inbox_uid and m.message_id = wanted.id
   union
  select wanted.id, m.id, m.inbox_uid, message_id, header_id, thread_id, direction
    from wanted cross join lateral (
      select * from messages as m
       where m.inbox_uid = wanted.inbox_uid and m.header_id = wanted.id order by m.id limit ${MOST_WITH_ONE_ID}) as m),
labelled as (
  select named.*, array(select label from unnest($3::text[]) as label where label = any(threads.labels)) as restricted,
         sent_timestamp is not null as answered
    from named join threads on threads.id = thread_id),
numbered as (
  select *, row_number() over (partition by inbox_uid, name, restricted
                               order by direction = 'received', message_id <> name, id) as place
    from labelled)
select id, inbox_uid, message_id, header_id, thread_id, direction, restricted, answered
  from numbered where place <= ${MOST_OF_ONE_KIND}`)

const STORED = sql<{ id: string }, [inboxUid: string, ids: readonly string[]]>(`
select id from unnest($2::text[]) as wanted(id)
 where exists (select from messages where inbox_uid = $1 and message_id = wanted.id)
    or exists (select from messages where inbox_uid = $1 and header_id = wanted.id)`)

type People = Pick<MessageRow, 'id' | 'sender_address' | 'recipients'>

const PEOPLE = sql<People, [ids: readonly string[]]>(
  'select id, sender_address, recipients from messages where id = any($1::uuid[])',
)

/** Those of the given ids that a message of the inbox has, as its `message_id` or in its header. */
export async function storedIds(db: Queryable, inboxUid: string, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await db.query(STORED, inboxUid, ids)).map(({ id }) => id))
}

/** The messages that ids refer to, including those that are about to be stored in the same transaction. */
export class Carriers {
  readonly #db: Queryable
  readonly #byId = new Map<string, Carrier[]>()
  readonly #unstored = new Map<string, People>()

  private constructor(db: Queryable) {
    this.#db = db
  }

  /** Reads the messages that have one of these ids in their inbox, as their `message_id` or in their header. */
  static async of(db: Queryable, wanted: readonly IdsOfInbox[]): Promise<Carriers> {
    const pairs = wanted.flatMap(({ inbox_uid, ids }) => ids.map((id) => ({ inbox_uid, id })))
    const carriers = new Carriers(db)
    const found = await db.query(
      CARRIERS,
      pairs.map(({ inbox_uid }) => inbox_uid),
      pairs.map(({ id }) => id),
      RESTRICTED_LABELS,
    )
    for (const carrier of found) carriers.#add(carrier)
    return carriers
  }

  /**
   * Makes a message that is about to be stored visible to later ones.
   * @param answered whether the inbox has sent a message in its thread
   */
  add(message: MessageRow, answered: boolean): void {
    this.#unstored.set(message.id, message)
    // Its thread has the same restricted labels: it joined such a thread, or starts one.
    this.#add({ ...message, restricted: restrictedAmong(message.labels), answered })
  }

  /** Whether a stored message has this `message_id` already: it is unique per inbox. */
  isTaken(inboxUid: string, messageId: string): boolean {
    return this.#named(inboxUid, messageId).some(({ message_id }) => message_id === messageId)
  }

  /**
   * The message whose thread a received mail joins (mail 13.1): that of the first id, best first, which refers to a
   * message in a thread with the same restricted labels as the mail. Threads with other restricted labels are ignored:
   * otherwise one forged mail could hide the conversation, or take in the genuine mail. Among several messages with one
   * id the order is: a message that the inbox has sent, one that has the author of the mail among its people, the oldest.
   */
  async find(mail: MessageRow, ids: readonly string[], choice: ThreadChoice): Promise<Carrier | undefined> {
    const labels = restrictedAmong(mail.labels).join()
    for (const id of ids) {
      const named = this.#named(mail.inbox_uid, id)
      const carriers = choice === 'any labels' ? named : named.filter(({ restricted }) => restricted.join() === labels)
      const best = await this.#best(carriers, mail.sender_address)
      if (best) return best
    }
    return undefined
  }

  async #best(carriers: readonly Carrier[], author: string): Promise<Carrier | undefined> {
    if (carriers.length < 2) return carriers[0]
    const sent = carriers.find(({ direction }) => direction === 'sent')
    if (sent) return sent
    const byAge = carriers.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const familiar = await this.#familiar(byAge, author)
    return byAge.find(({ id }) => familiar.has(id)) ?? byAge[0]
  }

  /**
   * The ids of those messages that have the author among their people. Without an author there is nothing to look for.
   */
  async #familiar(carriers: readonly Carrier[], author: string): Promise<Set<string>> {
    if (author === '') return new Set()
    const unstored = carriers.flatMap(({ id }) => this.#unstored.get(id) ?? [])
    const stored = carriers.map(({ id }) => id).filter((id) => !this.#unstored.has(id))
    const people = [...unstored, ...(await this.#db.query(PEOPLE, stored))]
    return new Set(people.filter((one) => isAmongPeople(author, one)).map(({ id }) => id))
  }

  #named(inboxUid: string, id: string): readonly Carrier[] {
    return this.#byId.get(keyOf(inboxUid, id)) ?? []
  }

  #add(carrier: Carrier): void {
    for (const id of new Set([carrier.message_id, carrier.header_id])) {
      const key = keyOf(carrier.inbox_uid, id)
      const others = this.#byId.get(key) ?? []
      if (!others.some((other) => other.id === carrier.id)) this.#byId.set(key, [...others, carrier])
    }
  }
}

function keyOf(inboxUid: string, id: string): string {
  return `${inboxUid} ${id}`
}

/**
 * Whether an address is that of the author or of a recipient. It is searched in the text, where each line is an address
 * or ends with one in angle brackets: parsing thousands of them, of each message, would take most of a second.
 */
export function isAmongPeople(address: string, { sender_address, recipients }: People): boolean {
  if (sender_address === address) return true
  const lines = `\n${recipients.toLowerCase()}\n`
  return lines.includes(`<${address}>\n`) || lines.includes(`\n${address}\n`)
}
