import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { byLength, countRows, freePort, queryRows, sendMail, waitFor } from '@restante/testkit'
import { lockMailbox } from '../../src/mailbox/lock.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { holding } from '../locks.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'
import { withoutRetries } from './without-retries.ts'

const PROCESS = path.join(import.meta.dirname, '../fixtures', 'pipeline-process.ts')

const EVENTS = sql<{ type: string }, [messageId: string]>(
  `select type from outbox where subject = $1 and type like 'message.%' order by position`,
)

/** Html that needs many times the memory, and the time, of what it is written in: most of a second. */
const BODY = `Content-Type: text/html\r\n\r\n${`${'<blockquote type=cite>x</blockquote>x'.repeat(20)}\r\n`.repeat(1_300)}`

async function send(fixture: Fixture, inbox: TestInbox, name: string): Promise<string> {
  const id = `<${name}-${inbox.inbox_uid}@x.test>`
  const raw = `From: Ada <ada@customer.test>\r\nTo: ${inbox.address}\r\nSubject: ${name}\r\nMessage-ID: ${id}\r\n${BODY}`
  await sendMail({ port: fixture.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw })
  return id
}

const count = async (fixture: Fixture, inbox: TestInbox) =>
  (await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')).body.count

async function failedAttempts(fixture: Fixture): Promise<number> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  return Number(/^restante_mail_attempts_total\{outcome="failed"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** Expects that a mail is stored from its headers, is readable, is complete in its raw form, and has one public event. */
async function expectUnparsed(fixture: Fixture, inbox: TestInbox, id: string, subject: string) {
  await waitFor(async () => (await count(fixture, inbox)) === 1, { what: 'the mail', timeout: 60_000 })
  const message = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
  expect(message.body).toMatchObject({ subject, from: 'Ada <ada@customer.test>', to: [inbox.address] })
  for (const member of ['text', 'html', 'attachments']) expect(message.body).not.toHaveProperty(member)
  const raw = await fixture.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
  const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
  expect((await file.text()).endsWith(BODY)).toBe(true)
  expect(await fixture.db.query(EVENTS, id)).toEqual([{ type: 'message.stored' }, { type: 'message.received' }])
  expect(await countRows(fixture.db, 'inbound')).toBe(0)
}

describe.each([
  [
    'needs more memory than a thread may have',
    { PARSE_MEMORY_MB: '32', PARSE_FIRST_ATTEMPT: '60s', PARSE_TIMEOUT: '60s' },
  ],
  ['takes longer than a thread may take', { PARSE_FIRST_ATTEMPT: '300ms', PARSE_TIMEOUT: '300ms' }],
])('a mail that %s', (_, variables) => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture(variables)
  })
  afterAll(() => fixture.stop())

  it('is stored unparsed after exactly three attempts, and holds up no other inbox', async () => {
    const [victim, other] = [await fixture.inbox(), await fixture.inbox()]
    const failedBefore = await failedAttempts(fixture)
    const { id, later } = await withoutRetries(fixture.db, async () => ({
      id: await send(fixture, victim, 'killer'),
      later: await receiveMail(fixture, other),
    }))
    await expectUnparsed(fixture, victim, id, 'killer')
    expect((await failedAttempts(fixture)) - failedBefore).toBe(3)
    const stored = await queryRows<{ id: string }>(
      fixture.db,
      'select message_id as id from messages order by created_at',
    )
    expect(stored.map((message) => message.id)).toEqual([later, id])
  })
})

describe('a mail that kills the process', () => {
  let fixture: Fixture
  let pipeline: ChildProcess | undefined
  beforeAll(async () => {
    fixture = await openFixture({ ROLES: 'smtp,api' })
  })
  afterAll(async () => {
    pipeline?.kill('SIGKILL')
    await fixture.stop()
  })

  /** Another mail-ingest on the same state: it alone works on the queue. */
  async function startPipeline(): Promise<ChildProcess> {
    const variables = {
      ROLES: 'pipeline',
      PORT: String(await freePort()),
      DATABASE_URL: fixture.databaseUrl,
      TOPIC_PREFIX: fixture.topics.prefix,
      BLOB_STORE: `directory:${fixture.blobs}`,
      GATEWAY_URL: fixture.gatewayUrl,
      PARSE_FIRST_ATTEMPT: '60s',
      PARSE_TIMEOUT: '60s',
    }
    return spawn(process.execPath, [PROCESS, JSON.stringify(variables)], { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  it('is stored unparsed after the process died three times, because attempts are counted before they start', async () => {
    const inbox = await fixture.inbox()
    const id = await send(fixture, inbox, 'deadly')
    // In the short form the first death is one that happened before: the row is as that process left it.
    const counted = byLength({ short: 1, long: 0 })
    await queryRows(fixture.db, 'update inbound set attempts = $1', counted)
    for (const attempts of [1, 2, 3].slice(counted)) {
      // The mail cannot be stored before the process is dead, however late this test notices the attempt.
      await holding(fixture.db, async (tx) => {
        await lockMailbox(tx, inbox.inbox_uid)
        pipeline = await startPipeline()
        await waitFor(async () => (await countRows(fixture.db, 'inbound where attempts = $1', attempts)) === 1, {
          what: `attempt ${attempts}`,
        })
        const exit = once(pipeline, 'exit')
        pipeline.kill('SIGKILL')
        await exit
      })
      // Ends the lease of the dead process, so that the test need not wait for it.
      await queryRows(fixture.db, 'update inbound set leased_until = $1', new Date())
    }
    pipeline = await startPipeline()
    await expectUnparsed(fixture, inbox, id, 'deadly')
  }, 180_000)
})

describe('while no parser can start', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ PARSE_MEMORY_MB: '6' })
  })
  afterAll(() => fixture.stop())

  it('mails wait, and no attempt is counted', async () => {
    const inbox = await fixture.inbox()
    await send(fixture, inbox, 'patient')
    const putOff = `due_at > received_at + interval '1500 milliseconds' and lease_id is null`
    const attempts = async () => (await queryRows(fixture.db, `select attempts from inbound where ${putOff}`))[0]
    expect(await waitFor(attempts, { what: 'the failed attempt' })).toEqual({ attempts: 0 })
  })
})
