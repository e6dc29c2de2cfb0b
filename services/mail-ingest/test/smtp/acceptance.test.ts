import { readdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { queryRows, SmtpSession, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { LARGE_TEXT } from '../mailbox-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

const SESSIONS = 12
/** PostgreSQL refuses rows for this recipient only. */
const REFUSE = (address: string) => `
create function refuse() returns trigger language plpgsql as $$
begin
  if new.recipient = '${address}' then raise exception 'refused by the test'; end if;
  return new;
end $$;
create trigger refuse before insert on inbound for each row execute function refuse()`

describe('mails that arrive in many sessions at the same time', () => {
  it('are answered separately: one whose row cannot be written fails alone', async () => {
    const inboxes = await Promise.all(Array.from({ length: SESSIONS }, () => fixture.inbox()))
    const [refused, ...taken] = inboxes.map(({ address }) => address)
    for (const text of REFUSE(refused ?? '').split(/;\n(?=create)/)) await queryRows(fixture.db, text)
    const codes = await Promise.all(
      inboxes.map(async ({ address }) => {
        const smtp = await SmtpSession.open(fixture.smtpPort)
        const answers: number[] = []
        for (let mail = 0; mail < 3; mail++) {
          await smtp.envelope('ada@customer.test', address)
          answers.push((await smtp.data(`From: ada@x.test\r\nSubject: ${mail}\r\n\r\nfor ${address}\r\n`)).code)
        }
        await smtp.quit()
        return answers
      }),
    )
    expect(codes).toEqual(inboxes.map(({ address }) => (address === refused ? [451, 451, 451] : [250, 250, 250])))
    const stored = () => queryRows<{ address: string }>(fixture.db, 'select inbox_address as address from messages')
    await waitFor(async () => (await stored()).length === taken.length * 3, { what: 'every accepted mail' })
    const holders = (await stored()).map(({ address }) => address).sort()
    expect(holders).toEqual(taken.flatMap((address) => [address, address, address]).sort())
  })
})

describe('large mails that are refused or break off during DATA', () => {
  const RESERVED = sql<{ count: number }>('select count(*)::int as count from raw_mails where refs = 0 and size = 0')
  const reserved = async () => (await fixture.db.query(RESERVED))[0]?.count ?? 0
  const brokenOff = async () => {
    const metrics = await (await fetch(fixture.metricsUrl)).text()
    return Number(/^restante_smtp_mails_total\{outcome="broken_off"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }

  it('do not use up reserved names, however many there are', async () => {
    const { address } = await fixture.inbox()
    const begin = async () => {
      const smtp = await SmtpSession.open(fixture.smtpPort)
      await smtp.envelope('ada@customer.test', address)
      await smtp.command('DATA')
      smtp.write(`From: ada@x.test\r\nSubject: large\r\n\r\n${LARGE_TEXT}`)
      return smtp
    }
    const refuse = async () => {
      const [broken, sessions] = [await brokenOff(), await Promise.all(Array.from({ length: 20 }, begin))]
      const written = async () => (await readdir(path.join(fixture.blobs, '.incoming'))).length
      await waitFor(async () => (await written()) === 20, { what: 'a name for each' })
      for (const smtp of sessions.splice(0, 10)) smtp.drop()
      await waitFor(async () => (await brokenOff()) === broken + 10, { what: 'the end of broken mails' })
      for (const smtp of sessions) smtp.write('bare\nline feed\r\n.\r\n')
      const answers = await Promise.all(sessions.map((smtp) => smtp.reply()))
      expect(answers.map(({ code }) => code)).toEqual(Array(10).fill(554))
    }
    // As many names as so many sessions need at once.
    await refuse()
    const before = await reserved()
    for (let round = 0; round < 3; round++) await refuse()
    expect(await reserved()).toBe(before)
    const smtp = await begin()
    smtp.write('.\r\n')
    expect((await smtp.reply()).code).toBe(250)
    expect(await reserved()).toBe(before - 1)
    await smtp.quit()
  })
})

describe('a large mail that cannot be written to the blob store', () => {
  it('gets 451, is read to its end, and the session goes on', async () => {
    const { address } = await fixture.inbox()
    const [incoming, away] = [path.join(fixture.blobs, '.incoming'), path.join(fixture.blobs, '.away')]
    const smtp = await SmtpSession.open(fixture.smtpPort)
    const send = async (text: string) => {
      await smtp.envelope('ada@customer.test', address)
      return (await smtp.data(`From: ada@x.test\r\nSubject: large\r\n\r\n${text}`)).code
    }
    await rename(incoming, away)
    expect(await send(LARGE_TEXT.repeat(20))).toBe(451)
    expect(await send('small\r\n')).toBe(250)
    await rename(away, incoming)
    expect(await send(LARGE_TEXT.repeat(20))).toBe(250)
    await smtp.quit()
  })
})
