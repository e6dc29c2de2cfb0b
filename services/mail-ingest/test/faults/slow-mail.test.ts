import { sql } from '@restante/service/database'
import { sendMail, waitFor } from '@restante/testkit'
import { receiveMail, sentCopy } from '../mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from '../stage.ts'

const HOSTILE = 10
/** Less than a megabyte of html that a thread needs most of a second for. */
const BODY = `${'<blockquote type=cite>x</blockquote>x'.repeat(20)}\r\n`.repeat(1_300)

const STORED = sql<{ count: number }>(`select count(*)::int as count from messages where subject = 'hostile'`)
const QUEUED = sql<{ count: number }>('select count(*)::int as count from inbound')
const UNPARSED = sql<{ inbox_uid: string }>(
  'select inbox_uid from messages join message_bodies using (id) where html is null and text is null',
)
const AGE = sql<{ id: string }, [lane: string]>(`
update inbound set slow_since = slow_since - interval '61 seconds'
 where lane = $1 and slow and slow_since > now() - interval '61 seconds' returning id`)
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

describe('after a slow mail that has waited a minute for its lane', () => {
  it('an honest mail is stored in order: the slow one is stored unparsed', async () => {
    const victim = await stage.inbox()
    for (let index = 0; index < 4; index++) await attack(await stage.inbox())
    await attack(victim)
    const send = receiveMail(stage, victim, { subject: 'honest' })
    await waitFor(async () => (await stage.db.query(AGE, victim.inbox_uid)).length > 0, {
      what: 'a slow mail',
      timeout: 30_000,
    })
    await send
    const listed = await stage.call(victim.caller, 'messages.list', 'GET', '/messages')
    expect(listed.body.messages.map(({ subject }) => subject).sort()).toEqual(['honest', 'hostile'])
    expect(await queuedOf(stage)).toBeGreaterThan(0)
    await waitFor(async () => (await queuedOf(stage)) === 0, { what: 'every mail', timeout: 60_000 })
    expect(await stage.db.query(UNPARSED)).toEqual([{ inbox_uid: victim.inbox_uid }])
    await stage.db.query(sql('delete from messages'))
  }, 120_000)
})

describe('while ten slow mails are in progress', () => {
  it('mail of another tenant and sent copies overtake them, and each is finally stored once', async () => {
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
