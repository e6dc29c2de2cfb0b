import { sql } from '@restante/service/database'
import { byLength, countRows, queryRows, sendMail, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { holding } from '../locks.ts'
import { receiveMail, sentCopy } from '../mailbox-fixture.ts'

const HOSTILE = byLength({ short: 3, long: 10 })
/** Less than a megabyte of html that a thread needs most of a second for. */
const BODY = `${'<blockquote type=cite>x</blockquote>x'.repeat(20)}\r\n`.repeat(1_300)

const STORED = sql<{ count: number }>(`select count(*)::int as count from messages where subject = 'hostile'`)
const QUEUED = sql<{ count: number }>('select count(*)::int as count from inbound')
const UNPARSED = sql<{ inbox_uid: string }>(
  'select inbox_uid from messages join message_bodies using (id) where html is null and text is null',
)
/** A mail of this inbox that becomes slow has waited for more than a minute already. */
const AGED = (lane: string) => `
create function aged() returns trigger language plpgsql as $$ begin
  if new.slow and not old.slow and new.lane = '${lane}' then new.slow_since := now() - interval '61 seconds'; end if;
  return new;
end $$;
create trigger aged before update on inbound for each row execute function aged()`
const IN_PROGRESS = sql<{ id: string }>(
  'select id from inbound where slow and lease_id is not null for update skip locked',
)
const HOLD = sql<{ id: string }>('select id from inbound where slow for update skip locked')
const RENEW = sql<never>('update inbound set slow_since = now() where slow')
const storedOf = async (fixture: Fixture) => (await fixture.db.query(STORED))[0]?.count ?? 0
const queuedOf = async (fixture: Fixture) => (await fixture.db.query(QUEUED))[0]?.count ?? 0

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ PARSE_FIRST_ATTEMPT: '200ms', PARSE_TIMEOUT: '60s', PIPELINE_CONCURRENCY: '4' })
})
afterAll(() => fixture.stop())

async function attack({ address }: TestInbox): Promise<void> {
  const raw = `From: eve@evil.test\r\nTo: ${address}\r\nSubject: hostile\r\nContent-Type: text/html\r\n\r\n${BODY}`
  await sendMail({ port: fixture.smtpPort, envelope: { from: 'eve@evil.test', to: address }, raw })
}

/**
 * Does something while every mail that waits is a slow one and none of them ends, however slow the machine is itself.
 * @param work gets how many they are.
 */
async function besideSlowMail(work: (held: number) => Promise<void>): Promise<void> {
  await holding(fixture.db, async (tx) => {
    const held = new Set<string>()
    const areSlow = async () => {
      // The first that is in progress, and then those that would be after it.
      for (const { id } of await tx.query(held.size === 0 ? IN_PROGRESS : HOLD)) held.add(id)
      return (await countRows(fixture.db, 'inbound where not slow')) === 0 && held.size === (await queuedOf(fixture))
    }
    await waitFor(areSlow, { what: 'the mails to be known as slow' })
    expect(held.size).toBeGreaterThan(0)
    await work(held.size)
    // A machine that is slow itself makes none of them wait for too long.
    await tx.query(RENEW)
  })
}

describe('after a slow mail that has waited a minute for its lane', () => {
  it('an honest mail is stored in order: the slow one is stored unparsed', async () => {
    const victim = await fixture.inbox()
    for (const text of AGED(victim.inbox_uid).split(/;\n(?=create)/)) await queryRows(fixture.db, text)
    await Promise.all([1, 2].map(async () => attack(await fixture.inbox())))
    await besideSlowMail(async (held) => {
      await attack(victim)
      await receiveMail(fixture, victim, { subject: 'honest' })
      const listed = await fixture.call(victim.caller, 'messages.list', 'GET', '/messages')
      expect(listed.body.messages.map(({ subject }) => subject).sort()).toEqual(['honest', 'hostile'])
      expect(await queuedOf(fixture)).toBe(held)
    })
    await waitFor(async () => (await queuedOf(fixture)) === 0, { what: 'every mail', timeout: 60_000 })
    expect(await fixture.db.query(UNPARSED)).toEqual([{ inbox_uid: victim.inbox_uid }])
    await queryRows(fixture.db, 'drop function aged() cascade')
    await fixture.db.query(sql('delete from messages'))
  })
})

describe('while slow mails are in progress', () => {
  it('mail of another tenant and sent copies overtake them, and each is finally stored once', async () => {
    const victims = await Promise.all(Array.from({ length: HOSTILE }, () => fixture.inbox()))
    const other = await fixture.inbox()
    await receiveMail(fixture, other)
    await Promise.all(victims.map(attack))
    await besideSlowMail(async (held) => {
      await receiveMail(fixture, other)
      const copy = await sentCopy(fixture, other)
      await fixture.peer('mail-ingest.placeSent', copy)
      expect(await storedOf(fixture)).toBe(HOSTILE - held)
    })
    await waitFor(async () => (await queuedOf(fixture)) === 0, { what: 'every mail', timeout: 60_000 })
    expect(await storedOf(fixture)).toBe(HOSTILE)
  })
})
