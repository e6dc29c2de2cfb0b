import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { countRows, freePort, queryRows, sendMail, waitFor } from '@restante/testkit'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from '../stage.ts'

const PROCESS = path.join(import.meta.dirname, '../fixtures', 'pipeline-process.ts')

const EVENTS = sql<{ type: string }, [messageId: string]>(
  `select type from outbox where subject = $1 and type like 'message.%'`,
)

/** Html that needs many times the memory, and the time, of what it is written in: most of a second. */
const BODY = `Content-Type: text/html\r\n\r\n${`${'<blockquote type=cite>x</blockquote>x'.repeat(20)}\r\n`.repeat(1_300)}`

async function send(stage: Stage, inbox: TestInbox, name: string): Promise<string> {
  const id = `<${name}-${inbox.inbox_uid}@x.test>`
  const raw = `From: Ada <ada@customer.test>\r\nTo: ${inbox.address}\r\nSubject: ${name}\r\nMessage-ID: ${id}\r\n${BODY}`
  await sendMail({ port: stage.smtpPort, envelope: { from: 'ada@customer.test', to: inbox.address }, raw })
  return id
}

const count = async (stage: Stage, inbox: TestInbox) =>
  (await stage.call(inbox.caller, 'messages.list', 'GET', '/messages')).body.count

async function failedAttempts(stage: Stage): Promise<number> {
  const metrics = await (await fetch(stage.metricsUrl)).text()
  return Number(/^restante_mail_attempts_total\{outcome="failed"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** Stored from its headers, readable, whole in its raw form, and told once. */
async function expectUnparsed(stage: Stage, inbox: TestInbox, id: string, subject: string) {
  await waitFor(async () => (await count(stage, inbox)) === 1, { what: 'the mail', timeout: 60_000 })
  const message = await stage.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
  expect(message.body).toMatchObject({ subject, from: 'Ada <ada@customer.test>', to: [inbox.address] })
  for (const member of ['text', 'html', 'attachments']) expect(message.body).not.toHaveProperty(member)
  const raw = await stage.call(inbox.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
  const file = await fetch(raw.body.download_url.replace('http://public.test/v0', stage.url))
  expect((await file.text()).endsWith(BODY)).toBe(true)
  expect(await stage.db.query(EVENTS, id)).toEqual([{ type: 'message.received' }])
  expect(await countRows(stage.db, 'inbound')).toBe(0)
}

describe.each([
  [
    'needs more memory than a thread may have',
    { PARSE_MEMORY_MB: '32', PARSE_FIRST_ATTEMPT: '60s', PARSE_TIMEOUT: '60s' },
  ],
  ['takes longer than a thread may take', { PARSE_FIRST_ATTEMPT: '100ms', PARSE_TIMEOUT: '100ms' }],
])('a mail that %s', (_, variables) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(variables)
  }, 60_000)
  afterAll(() => stage.stop(), 30_000)

  it('is stored unparsed after exactly three attempts, and holds up no other inbox', async () => {
    const [victim, other] = [await stage.inbox(), await stage.inbox()]
    const failedBefore = await failedAttempts(stage)
    const id = await send(stage, victim, 'killer')
    const later = await receiveMail(stage, other)
    await expectUnparsed(stage, victim, id, 'killer')
    expect((await failedAttempts(stage)) - failedBefore).toBe(3)
    const stored = await queryRows<{ id: string }>(
      stage.db,
      'select message_id as id from messages order by created_at',
    )
    expect(stored.map((message) => message.id)).toEqual([later, id])
  }, 90_000)
})

describe('a mail that kills the process', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage({ ROLES: 'smtp,api' })
  }, 60_000)
  afterAll(() => stage.stop(), 30_000)

  /** Another mail-ingest on the same state: it alone works on the queue. */
  async function startPipeline(): Promise<ChildProcess> {
    const variables = {
      ROLES: 'pipeline',
      PORT: String(await freePort()),
      DATABASE_URL: stage.databaseUrl,
      TOPIC_PREFIX: stage.topics.prefix,
      BLOB_STORE: `directory:${stage.blobs}`,
      GATEWAY_URL: stage.gatewayUrl,
      PARSE_FIRST_ATTEMPT: '60s',
      PARSE_TIMEOUT: '60s',
    }
    return spawn(process.execPath, [PROCESS, JSON.stringify(variables)], { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  it('is stored unparsed after the process died three times, because attempts are counted before they start', async () => {
    const inbox = await stage.inbox()
    const id = await send(stage, inbox, 'deadly')
    for (const attempts of [1, 2, 3]) {
      const pipeline = await startPipeline()
      await waitFor(async () => (await countRows(stage.db, 'inbound where attempts = $1', attempts)) === 1, {
        what: `attempt ${attempts}`,
        timeout: 30_000,
      })
      pipeline.kill('SIGKILL')
      await once(pipeline, 'exit')
      // The end of the dead process's lease, which nobody needs to wait for here.
      await queryRows(stage.db, 'update inbound set leased_until = $1', new Date())
    }
    const pipeline = await startPipeline()
    await expectUnparsed(stage, inbox, id, 'deadly')
    pipeline.kill('SIGKILL')
    await once(pipeline, 'exit')
  }, 180_000)
})

describe('while no parser can start', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage({ PARSE_MEMORY_MB: '6' })
  }, 60_000)
  afterAll(() => stage.stop(), 30_000)

  it('mails wait, and no attempt is counted', async () => {
    const inbox = await stage.inbox()
    await send(stage, inbox, 'patient')
    const putOff = `due_at > received_at + interval '1500 milliseconds' and lease_id is null`
    const attempts = async () => (await queryRows(stage.db, `select attempts from inbound where ${putOff}`))[0]
    expect(await waitFor(attempts, { what: 'the failed attempt' })).toEqual({ attempts: 0 })
  })
})
