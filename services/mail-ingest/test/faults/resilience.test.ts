import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { deliverTwiceAndSwapped } from '@restante/messaging/testing'
import {
  countRows,
  createTopics,
  freePort,
  queryRows,
  SmtpSession,
  sendMail,
  startService,
  urlOf,
  waitFor,
} from '@restante/testkit'
import pg from 'pg'
import { service as mailIngest } from '../../src/main.ts'
import { configOf, type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { LARGE_TEXT, pathOf, receiveMail, sentCopy, tenancyOf } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const list = () => fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
const mail = 'From: ada@customer.test\r\nSubject: stubborn\r\nMessage-ID: <stubborn@x.test>\r\n\r\nbody\r\n'

describe('an accepted mail', () => {
  it('is stored from its headers after three attempts that ended with their process', async () => {
    await queryRows(fixture.db, 'alter table inbound alter column attempts set default 3')
    await sendMail({ port: fixture.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw: mail })
    await waitFor(async () => (await list()).body.count === 1, { what: 'the mail' })
    const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf('<stubborn@x.test>'))
    expect(body).toMatchObject({ subject: 'stubborn', from: 'ada@customer.test', labels: ['received', 'unread'] })
    expect(body).not.toHaveProperty('text')
    const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf('<stubborn@x.test>')}/raw`)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
    expect(await file.text()).toContain(mail)
  })

  it('is stored without its headers when they cannot be stored either, and without an author', async () => {
    await queryRows(fixture.db, 'alter table inbound alter column attempts set default 6')
    await sendMail({ port: fixture.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw: mail })
    const all = () => fixture.call(inbox.caller, 'messages.list', 'GET', '/messages?include_unauthenticated=true')
    await waitFor(async () => (await all()).body.count === 1, { what: 'the mail' })
    const [message] = (await all()).body.messages
    expect(message).toMatchObject({ from: '(no sender)', to: [], authentication: { verdict: 'none' } })
    expect(message.labels).toContain('unauthenticated')
    expect(message).not.toHaveProperty('subject')
  })

  it('is processed again when its lease has ended, in order of arrival', async () => {
    // As if another process had taken the first mail and died.
    await queryRows(
      fixture.db,
      `alter table inbound alter column attempts set default 0, alter column leased_until set default 'infinity'`,
    )
    const first = `first ${randomUUID()}`
    await sendMail({ port: fixture.smtpPort, from: 'ada@x.test', to: inbox.address, subject: first })
    await queryRows(fixture.db, 'alter table inbound alter column leased_until drop default')
    await sendMail({ port: fixture.smtpPort, from: 'ada@x.test', to: inbox.address, subject: 'second' })
    // Once this one is stored, the queue has been read after both mails came.
    await receiveMail(fixture, await fixture.inbox())
    expect((await list()).body.count).toBe(0)
    await queryRows(fixture.db, 'update inbound set leased_until = now() where leased_until is not null')
    await waitFor(async () => (await list()).body.count === 2, { what: 'both mails' })
    const messages = (await list()).body.messages
    const created = new Map(
      messages.map((message: { subject: string; created_at: string }) => [message.subject, message.created_at]),
    )
    expect(String(created.get(first)) <= String(created.get('second'))).toBe(true)
  })
})

describe('while the blob store cannot be read', () => {
  it('a mail waits, and is then stored in full', async () => {
    const { db } = fixture
    const waiting = async () => {
      const [row] = await queryRows<{ blob: string; due_at: Date; attempts: number; lease_id: string | null }>(
        db,
        'select * from inbound where inbox_uid = $1',
        inbox.inbox_uid,
      )
      if (!row) throw new Error('the mail does not wait')
      return row
    }
    await queryRows(db, `alter table inbound alter column due_at set default 'infinity'`)
    const envelope = { from: 'ada@customer.test', to: inbox.address }
    await sendMail({ port: fixture.smtpPort, envelope, raw: mail + LARGE_TEXT })
    await queryRows(db, 'alter table inbound alter column due_at set default now()')
    const { blob, attempts } = await waiting()
    const blobs = await openBlobStore(`directory:${fixture.blobs}`)
    await blobs.copy(blob, 'elsewhere/mail')
    await blobs.delete(blob)
    const due = new Date(0)
    await queryRows(db, 'update inbound set due_at = $2 where inbox_uid = $1', inbox.inbox_uid, due)
    const isPutOff = async () => {
      const row = await waiting()
      return row.due_at > due && row.attempts === attempts && row.lease_id === null
    }
    await waitFor(isPutOff, { what: 'the failed attempt' })
    await blobs.copy('elsewhere/mail', blob)
    await waitFor(async () => (await list()).body.count === 1, { what: 'the mail' })
    const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf('<stubborn@x.test>'))
    expect(body.text).toBe(`body\n${LARGE_TEXT.replaceAll('\r\n', '\n')}`)
  })
})

describe('while PostgreSQL refuses', () => {
  it('a mail gets 451 and is retried later', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.envelope('ada@customer.test', inbox.address)
    const database = new URL(fixture.databaseUrl).pathname.slice(1)
    const admin = new pg.Client({ connectionString: urlOf('postgres') })
    await admin.connect()
    const allow = (allowed: boolean) => admin.query(`alter database ${database} allow_connections ${allowed}`)
    await allow(false)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
    const { code, text } = await smtp.data(mail)
    await allow(true)
    await admin.end()
    expect(code).toBe(451)
    expect(text).toMatch(/^4\.3\.0 /)
    await smtp.envelope('ada@customer.test', inbox.address)
    expect((await smtp.data(mail)).code).toBe(250)
    await smtp.quit()
    await waitFor(async () => (await list().catch(() => undefined))?.body.count === 1, { what: 'the mail' })
  })
})

describe('while the gateway does not answer', () => {
  it('recipients get 451, and return paths are still accepted', async () => {
    const topics = await createTopics([])
    const smtpPort = await freePort()
    const config = configOf({
      ROLES: 'smtp',
      PORT: String(await freePort()),
      SMTP_PORT: String(smtpPort),
      DATABASE_URL: fixture.databaseUrl,
      TOPIC_PREFIX: fixture.topics.prefix,
      BLOB_STORE: `directory:${fixture.blobs}`,
      GATEWAY_URL: 'http://127.0.0.1:9',
    })
    const service = await startService(mailIngest, config)
    const smtp = await SmtpSession.open(smtpPort)
    const { code, text } = await smtp.envelope('ada@customer.test', inbox.address)
    expect(code).toBe(451)
    expect(text).toMatch(/^4\.3\.0 /)
    expect((await smtp.command(`RCPT TO:<${fixture.returnPath.addressFor(randomUUID())}>`)).code).toBe(250)
    await smtp.quit()
    await service.stop()
    await topics.delete()
  })
})

describe('roles in separate processes', () => {
  it('hand mail from the SMTP process to the pipeline of another, and the API is elsewhere', async () => {
    const smtpPort = await freePort()
    const port = await freePort()
    const config = configOf({
      ROLES: 'smtp',
      PORT: String(port),
      SMTP_PORT: String(smtpPort),
      DATABASE_URL: fixture.databaseUrl,
      TOPIC_PREFIX: fixture.topics.prefix,
      BLOB_STORE: `directory:${fixture.blobs}`,
      GATEWAY_URL: fixture.gatewayUrl,
    })
    const service = await startService(mailIngest, config)
    await sendMail({ port: smtpPort, from: 'ada@customer.test', to: inbox.address, subject: 'from afar' })
    await waitFor(async () => (await list()).body.count === 1, { what: 'the mail' })
    expect((await fetch(`http://127.0.0.1:${port}/messages`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    await service.stop()
  })
})

describe('a deleted inbox', () => {
  it('is purged, bytes included, and accepts nothing more', async () => {
    await receiveMail(fixture, inbox, { attachments: [{ filename: 'a.txt', content: 'a' }] })
    const { db } = fixture
    const { inbox_uid: uid } = inbox
    const blobs = async () =>
      (await queryRows<{ blob: string }>(db, 'select blob from messages where inbox_uid = $1', uid)).map(
        ({ blob }) => blob,
      )
    const before = await blobs()
    expect(before).toHaveLength(1)
    await fixture.deleteInbox(inbox)
    await waitFor(
      async () => {
        const left = ['messages', 'threads', 'label_log'].map((table) =>
          countRows(db, `${table} where inbox_uid = $1`, uid),
        )
        const raw = countRows(db, 'raw_mails where blob = any($1)', before)
        return (await Promise.all([...left, raw])).every((count) => count === 0)
      },
      { what: 'the purge' },
    )
    const tombstones = await queryRows(db, 'select address from deleted_scopes where id = $1', uid)
    expect(tombstones).toEqual([{ address: inbox.address }])
    const smtp = await SmtpSession.open(fixture.smtpPort)
    expect((await smtp.envelope('ada@customer.test', inbox.address)).code).toBe(550)
    await smtp.quit()
  })

  it('is marked deleted once, however often the event arrives, and accepts no late copies', async () => {
    const { db } = fixture
    const { consumer } = await tenancyOf(fixture)
    const { address, caller: _, ...uids } = inbox
    const deletion = (version: number) => ({
      id: randomUUID(),
      type: 'inbox.deleted' as const,
      subject: inbox.inbox_uid,
      key: inbox.organization_id,
      time: new Date(),
      routing: { organizationId: inbox.organization_id },
      payload: { ...uids, address, version, deleted_at: '2026-11-20T10:00:00.000Z' },
    })
    await deliverTwiceAndSwapped(consumer, deletion(2), deletion(3))
    expect(await countRows(db, 'deleted_scopes where id = $1', inbox.inbox_uid)).toBe(1)
    const copy = await sentCopy(fixture, inbox)
    await fixture.peer('mail-ingest.placeSent', copy)
    expect(await countRows(db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
    await sendMail({ port: fixture.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw: mail })
    await waitFor(async () => (await countRows(db, 'inbound')) === 0, { what: 'an empty queue' })
    expect(await countRows(db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
  })
})
