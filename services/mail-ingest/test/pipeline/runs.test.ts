import { sql } from '@restante/service/database'
import { countRows, leastOf, queryRows, sendMail, waitFor } from '@restante/testkit'
import { lockMailbox } from '../../src/mailbox/lock.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { holding, whenWaiting } from '../locks.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

/** Mails wait in the queue until the work is done, as they do behind others under load. */
async function whileMailsWait(work: () => Promise<void>): Promise<void> {
  const { db } = fixture
  await db.query(sql(`alter table inbound alter column due_at set default 'infinity'`))
  await work()
  await db.query(sql('alter table inbound alter column due_at set default current_timestamp'))
  await db.query(sql(`update inbound set due_at = '-infinity'`))
}

async function send(inbox: TestInbox, subject: string): Promise<void> {
  await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to: inbox.address, subject })
}

interface Stored {
  readonly subject: string
  readonly transaction: string
}
const STORED = sql<Stored, [inboxUid: string]>(
  'select subject, xmin::text as transaction from messages where inbox_uid = $1 order by id',
)
const stored = (inbox: TestInbox) => fixture.db.query(STORED, inbox.inbox_uid)
const subjects = async (inbox: TestInbox) => (await stored(inbox)).map(({ subject }) => subject)
const allOf = (inbox: TestInbox, count: number) =>
  waitFor(async () => (await stored(inbox)).length === count, { what: `${count} mails` })

describe('waiting mails of one inbox', () => {
  it('are stored in the order of their arrival, many of them in one transaction', async () => {
    const inbox = await fixture.inbox()
    const names = Array.from({ length: 20 }, (_, index) => `mail ${index}`)
    await whileMailsWait(async () => {
      for (const name of names) await send(inbox, name)
    })
    await allOf(inbox, names.length)
    expect(await subjects(inbox)).toEqual(names)
    const transactions = new Set((await stored(inbox)).map(({ transaction }) => transaction))
    expect(transactions.size).toBeLessThan(names.length / 2)
  })

  it('join the thread of a mail stored with them, and a repeated mail is stored once', async () => {
    const inbox = await fixture.inbox()
    const to = inbox.address
    const common = { port: fixture.smtpPort, from: 'ada@customer.test', to }
    await whileMailsWait(async () => {
      const date = new Date(Date.now() - 60_000)
      await sendMail({ ...common, subject: 'root', messageId: '<root@customer.test>', date })
      await sendMail({ ...common, subject: 'root', messageId: '<root@customer.test>', date })
      await sendMail({ ...common, subject: 'Re: root', inReplyTo: '<root@customer.test>' })
      // Older than what is in the thread by then.
      const older = new Date(date.getTime() - 60_000)
      await sendMail({ ...common, subject: 'Re: root, late', inReplyTo: '<root@customer.test>', date: older })
    })
    await allOf(inbox, 3)
    await waitFor(async () => (await countRows(fixture.db, 'inbound')) === 0, { what: 'an empty queue' })
    expect(await subjects(inbox)).toEqual(['root', 'Re: root', 'Re: root, late'])
    const { body } = await fixture.call(inbox.caller, 'threads.list', 'GET', '/threads')
    expect(body.threads).toMatchObject([{ message_count: 3, subject: 'Re: root, late' }])
  })

  it('do not overtake a failing one: earlier ones are stored, later ones wait without a counted attempt', async () => {
    const { db } = fixture
    const inbox = await fixture.inbox()
    const other = await fixture.inbox()
    await db.query(
      sql(`create function refuse() returns trigger language plpgsql as $$
           begin if new.subject = 'refused' then raise exception 'refused by the test'; end if; return new; end $$`),
    )
    await db.query(sql('create trigger refuse before insert on messages for each row execute function refuse()'))
    await whileMailsWait(async () => {
      for (const name of ['first', 'refused', 'third', 'fourth']) await send(inbox, name)
      await send(other, 'elsewhere')
    })
    const waiting = () =>
      queryRows<{ attempts: number; lease_id: string | null }>(db, 'select * from inbound order by position')
    const putOff = async () => {
      const [refused, ...later] = await waiting()
      return refused !== undefined && refused.attempts >= 2 && refused.lease_id === null && later
    }
    await allOf(other, 1)
    const later = await waitFor(putOff, { what: 'the failed attempts' })
    expect(await subjects(inbox)).toEqual(['first'])
    expect(later.map(({ attempts }) => attempts)).toEqual([0, 0])
    await db.query(sql('drop trigger refuse on messages'))
    await allOf(inbox, 4)
    expect(await subjects(inbox)).toEqual(['first', 'refused', 'third', 'fourth'])
  })
})

describe('mails whose process died', () => {
  const ATTEMPTS = 2
  /** For each message that is stored: how many mails were being tried at that moment. */
  const WATCH = [
    'create table tried_at_once (mails int)',
    `create function watch() returns trigger language plpgsql as $$
     begin insert into tried_at_once select count(*) from inbound where attempts = ${ATTEMPTS}; return new; end $$`,
    'create trigger watch before insert on messages for each row execute function watch()',
  ]

  it('are tried one at a time, so that the next death counts for no other, and are stored in full', async () => {
    const { db } = fixture
    for (const text of WATCH) await db.query(sql(text))
    const inboxes = await Promise.all(Array.from({ length: 4 }, () => fixture.inbox()))
    await whileMailsWait(async () => {
      for (const inbox of inboxes) for (const name of ['first', 'second']) await send(inbox, name)
      await db.query(sql(`update inbound set attempts = ${ATTEMPTS - 1}, leased_until = now() - interval '1 second'`))
    })
    for (const inbox of inboxes) await allOf(inbox, 2)
    const tried = await db.query(sql<{ mails: number }>('select mails from tried_at_once'))
    expect(tried).toEqual(Array(8).fill({ mails: 1 }))
    for (const inbox of inboxes) expect(await subjects(inbox)).toEqual(['first', 'second'])
    expect(await countRows(db, 'message_bodies where text is null')).toBe(0)
    await db.query(sql('drop trigger watch on messages'))
  })
})

/** Less than the wait for the lock of a mailbox, after which the mail behind it would be stored in any case. */
const SOON_MS = 5_000

it('is stored while mail of another inbox waits for the lock of its mailbox', async () => {
  const [locked, other] = [await fixture.inbox(), await fixture.inbox()]
  let count = 0
  const measure = () =>
    holding(fixture.db, async (tx) => {
      await lockMailbox(tx, locked.inbox_uid)
      await send(locked, 'waits')
      await whenWaiting(fixture.db, tx, { what: 'the mail to wait for its mailbox' })
      const began = performance.now()
      await send(other, 'passes')
      await allOf(other, ++count)
      return performance.now() - began
    })
  expect(await leastOf(SOON_MS, measure)).toBeLessThan(SOON_MS)
  await allOf(locked, count)
})
