import { sql } from '@restante/service'
import { sendMail, waitFor } from '@restante/testkit'
import { receiveMail, sentCopy } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

const HOSTILE = 10
/** Less than a megabyte of html that a thread needs most of a second for. */
const BODY = `${'<blockquote type=cite>x</blockquote>x'.repeat(20)}\r\n`.repeat(1_300)

const STORED = sql<{ count: number }>(`select count(*)::int as count from messages where subject = 'hostile'`)
const QUEUED = sql<{ count: number }>('select count(*)::int as count from inbound')
const storedOf = async (stage: Stage) => (await stage.db.query(STORED))[0]?.count ?? 0
const queuedOf = async (stage: Stage) => (await stage.db.query(QUEUED))[0]?.count ?? 0

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ PARSE_FIRST_ATTEMPT: '200ms', PARSE_TIMEOUT: '60s', PIPELINE_CONCURRENCY: '4' })
}, 60_000)
afterAll(() => stage.stop(), 30_000)

async function attack({ address }: TestInbox): Promise<void> {
  const raw = `From: eve@evil.test\r\nTo: ${address}\r\nSubject: hostile\r\nContent-Type: text/html\r\n\r\n${BODY}`
  await sendMail({ port: stage.smtpPort, envelope: { from: 'eve@evil.test', to: address }, raw })
}

describe('while ten mails that take long are in work', () => {
  it('mail of another tenant and sent copies pass them, and each is stored once in the end', async () => {
    const victims = await Promise.all(Array.from({ length: HOSTILE }, () => stage.inbox()))
    const other = await stage.inbox()
    await receiveMail(stage, other)
    for (const victim of victims) await attack(victim)
    await receiveMail(stage, other)
    const copy = await sentCopy(stage, other)
    await stage.peer('mail-ingest.placeSent', copy)
    expect(await storedOf(stage)).toBeLessThan(HOSTILE / 2)
    await waitFor(async () => (await queuedOf(stage)) === 0, { what: 'every mail', timeout: 60_000 })
    expect(await storedOf(stage)).toBe(HOSTILE)
  }, 120_000)
})
