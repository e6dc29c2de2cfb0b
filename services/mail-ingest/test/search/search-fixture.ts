import { randomUUID } from 'node:crypto'
import { countRows, queryRows, type Submission, waitFor } from '@restante/testkit'
import type { Answer, Fixture, TestInbox } from '../fixture.ts'
import { receiveMail } from '../mailbox-fixture.ts'

/** Waits until every stored message is indexed. */
export async function untilIndexed(fixture: Fixture): Promise<void> {
  await waitFor(async () => (await countRows(fixture.db, 'unindexed_messages')) === 0, { what: 'an empty index queue' })
}

/** Delivers mails and waits until search finds them. @returns their message_ids */
export async function receiveIndexed(
  fixture: Fixture,
  inbox: TestInbox,
  ...mails: Omit<Submission, 'port'>[]
): Promise<string[]> {
  const ids: string[] = []
  for (const mail of mails) ids.push(await receiveMail(fixture, inbox, mail))
  await untilIndexed(fixture)
  return ids
}

export function searchMessages(
  fixture: Fixture,
  { caller }: Pick<TestInbox, 'caller'>,
  query: Readonly<Record<string, string>>,
): Promise<Answer> {
  return fixture.call(caller, 'messages.search', 'GET', `/messages/search?${new URLSearchParams(query)}`)
}

export function searchThreads(
  fixture: Fixture,
  { caller }: Pick<TestInbox, 'caller'>,
  query: Readonly<Record<string, string>>,
): Promise<Answer> {
  return fixture.call(caller, 'threads.search', 'GET', `/threads/search?${new URLSearchParams(query)}`)
}

export const idsOf = (answer: Answer): string[] => answer.body.messages.map(({ message_id }) => message_id)

export interface Filled {
  readonly text: string
  readonly subject?: string
  /** Id of the thread. Default: one of its own. */
  readonly thread?: string
}

/** Fills an inbox with messages, one a minute, the newest first: faster than by SMTP. */
export async function fillInbox(fixture: Fixture, inbox: TestInbox, messages: readonly Filled[]): Promise<void> {
  const [pattern] = await receiveIndexed(fixture, inbox, { subject: `pattern ${randomUUID()}`, text: 'pattern' })
  const newest = new Date(Date.now() - DAY_MS).toISOString()
  for (let from = 0; from < messages.length; from += AT_ONCE) {
    const portion = messages.slice(from, from + AT_ONCE)
    await queryRows(
      fixture.db,
      FILL,
      inbox.inbox_uid,
      pattern,
      portion.map(({ text }) => text),
      portion.map(({ subject = 'Filled' }) => subject),
      portion.map(({ thread = randomUUID() }) => thread),
      from,
      newest,
    )
  }
  await untilIndexed(fixture)
}

const AT_ONCE = 500
const DAY_MS = 86_400_000

const FILL = `with pattern as (select to_jsonb(messages) as message, to_jsonb(threads) as thread
                        from messages join threads on threads.id = thread_id
                       where messages.inbox_uid = $1 and message_id = $2),
          given as (select gen_random_uuid() as id, thread_id, subject, body,
                           $7::timestamptz - ($6::int + ordinal) * interval '1 minute' as "timestamp"
                      from unnest($3::text[], $4::text[], $5::uuid[]) with ordinality
                             as given(body, subject, thread_id, ordinal)),
          thread as (
            insert into threads
            select (jsonb_populate_record(null::threads, thread || jsonb_build_object(
                     'id', thread_id, 'timestamp', max("timestamp")))).*
              from given, pattern group by thread_id, thread
            on conflict (id) do nothing),
          message as (
            insert into messages
            select (jsonb_populate_record(null::messages, message || jsonb_build_object(
                     'id', id, 'thread_id', thread_id, 'message_id', '<' || id || '@x>', 'header_id', '<' || id || '@x>',
                     'digest', id, 'subject', subject, 'blob', id, 'timestamp', "timestamp"))).*
              from given, pattern),
          body as (insert into message_bodies (id, text, headers) select id, body, '{}' from given)
     insert into unindexed_messages select id from given`
