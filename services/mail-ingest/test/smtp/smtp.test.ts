import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { countRows, SmtpSession, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { LARGE_TEXT } from '../mailbox-fixture.ts'

const COUNT = sql<{ count: number }, [inboxUid: string]>(
  'select count(*)::int as count from messages where inbox_uid = $1',
)

let fixture: Fixture
let inbox: TestInbox
let facts: TopicCollection

beforeAll(async () => {
  fixture = await openFixture({ SMTP_PEER_CONNECTIONS: '5', SMTP_MAX_RECIPIENTS: '3' })
  facts = await fixture.collect('mail.inbound')
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const stored = async (of: TestInbox) => (await fixture.db.query(COUNT, of.inbox_uid))[0]?.count ?? 0
const mail = (subject: string) =>
  `From: ada@customer.test\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\nSubject: ${subject}\r\n\r\nHello\r\n`

async function session(): Promise<SmtpSession> {
  return SmtpSession.open(fixture.smtpPort)
}

describe('EHLO', () => {
  it('offers STARTTLS, SIZE, PIPELINING, 8BITMIME and SMTPUTF8, and no AUTH', async () => {
    const smtp = await session()
    const { code, text } = await smtp.command('EHLO client.test')
    expect(code).toBe(250)
    const words = text.split('\n').map((line) => line.split(' ')[0])
    expect(words).toEqual(expect.arrayContaining(['STARTTLS', 'SIZE', 'PIPELINING', '8BITMIME', 'SMTPUTF8']))
    expect(words).not.toContain('AUTH')
    expect(text).toContain(`SIZE ${40 * 1024 * 1024}`)
    expect((await smtp.command('AUTH PLAIN AGEAYg==')).code).toBe(500)
    await smtp.quit()
  })
})

describe('RCPT', () => {
  it('refuses unknown recipients with 550 5.1.1', async () => {
    const smtp = await session()
    const { code, text } = await smtp.envelope('ada@customer.test', 'nobody@mail.test')
    expect(code).toBe(550)
    expect(text).toMatch(/^5\.1\.1 /)
    await smtp.quit()
  })

  it('refuses a forged return path', async () => {
    const genuine = fixture.returnPath.addressFor('11111111-2222-4333-8444-555555555555')
    const forged = genuine.replace(/.(?=@)/, (digit) => (digit === '0' ? '1' : '0'))
    const smtp = await session()
    expect((await smtp.envelope('', forged)).code).toBe(550)
    expect((await smtp.command(`RCPT TO:<${genuine.toUpperCase()}>`)).code).toBe(250)
    await smtp.quit()
  })

  it('counts a recipient each time it is named', async () => {
    const inbox = await fixture.inbox()
    const smtp = await SmtpSession.open(fixture.smtpPort)
    await smtp.command('EHLO client.test')
    await smtp.command('MAIL FROM:<ada@customer.test>')
    for (let time = 0; time < 3; time++) expect((await smtp.command(`RCPT TO:<${inbox.address}>`)).code).toBe(250)
    const full = { code: 452, text: expect.stringMatching(/^4\.5\.3 /) }
    expect(await smtp.command(`RCPT TO:<${inbox.address}>`)).toEqual(full)
    await smtp.quit()
  })

  it('accepts at most the configured number of recipients', async () => {
    const others = await Promise.all([fixture.inbox(), fixture.inbox(), fixture.inbox()])
    const smtp = await session()
    const addresses = [inbox, ...others].map(({ address }) => address)
    const { code, text } = await smtp.envelope('ada@customer.test', ...addresses)
    expect(code).toBe(452)
    expect(text).toMatch(/^4\.5\.3 /)
    await smtp.quit()
  })

  it('disconnects a client that guesses addresses', async () => {
    const smtp = await session()
    await smtp.command('EHLO client.test')
    await smtp.command('MAIL FROM:<ada@customer.test>')
    for (let guess = 1; guess < 20; guess++) {
      expect((await smtp.command(`RCPT TO:<guess${guess}@mail.test>`)).code).toBe(550)
    }
    expect((await smtp.command('RCPT TO:<guess20@mail.test>')).code).toBe(421)
    smtp.drop()
  })

  it('stores one copy per inbox, however it was addressed', async () => {
    const other = await fixture.inbox()
    const smtp = await session()
    const tagged = inbox.address.replace('@', '+news@')
    await smtp.envelope('ada@customer.test', inbox.address, tagged, other.address)
    expect((await smtp.data(mail('for two'))).code).toBe(250)
    await smtp.quit()
    await waitFor(async () => (await stored(inbox)) === 1 && (await stored(other)) === 1, { what: 'both copies' })
    const ours = () => facts.records.filter(({ key }) => key === inbox.inbox_uid).map(({ type }) => type)
    await waitFor(() => ours().includes('mail.processed'), { what: 'the facts' })
    expect(ours()).toEqual(['mail.accepted', 'mail.processed'])
  })

  it('drops mail to a paused inbox, without storing it', async () => {
    await fixture.setStatus(inbox, 'paused')
    const before = await storedMails()
    await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to: inbox.address, text: 'gone' })
    const fact = await facts.next(({ key }) => key === inbox.inbox_uid, { what: 'the fact' })
    expect(fact.type).toBe('mail.discarded')
    expect(JSON.parse(fact.value)).toMatchObject({ reason: 'paused' })
    expect(await stored(inbox)).toBe(0)
    expect(await storedMails()).toBe(before)
  })
})

describe('STARTTLS', () => {
  it('accepts mail encrypted, and records it in the trace', async () => {
    const smtp = await session()
    await smtp.command('EHLO client.test')
    await smtp.startTls()
    expect((await smtp.command('MAIL FROM:<ada@customer.test>')).code).toBe(503)
    await smtp.envelope('ada@customer.test', inbox.address)
    expect((await smtp.data(mail('encrypted'))).code).toBe(250)
    await smtp.quit()
    const [message] = await waitFor(async () => listed(), { what: 'the message' })
    const answer = await fixture.call(
      inbox.caller,
      'messages.get',
      'GET',
      `/messages/${encodeURIComponent(message.message_id)}`,
    )
    expect(answer.body.headers.Received).toMatch(/with ESMTPS \(TLSv1\.3 /)
  })
})

describe('DATA', () => {
  it('answers 552 5.3.4 to a declared SIZE that is too large', async () => {
    const smtp = await session()
    await smtp.command('EHLO client.test')
    const { code, text } = await smtp.command(`MAIL FROM:<ada@customer.test> SIZE=${41 * 1024 * 1024}`)
    expect(code).toBe(552)
    expect(text).toMatch(/^5\.3\.4 /)
    await smtp.quit()
  })

  it('answers 552 5.3.4 to a mail that turns out too large, stores nothing, and continues', async () => {
    const before = await storedMails()
    const smtp = await session()
    await smtp.envelope('ada@customer.test', inbox.address)
    await smtp.command('DATA')
    const line = `${'x'.repeat(998)}\r\n`
    smtp.write(Buffer.from(line.repeat(42_000)))
    const { code, text } = await smtp.command('.')
    expect(code).toBe(552)
    expect(text).toMatch(/^5\.3\.4 /)
    await smtp.envelope('ada@customer.test', inbox.address)
    expect((await smtp.data(mail('small'))).code).toBe(250)
    await smtp.quit()
    await waitFor(async () => (await stored(inbox)) === 1, { what: 'the small one' })
    expect(await storedMails()).toBe(before + 1)
  })

  describe('long after RCPT', () => {
    /** A peer that has the answers to RCPT, and begins its mail when a second has passed since. */
    async function slowPeer(...to: readonly string[]): Promise<{ later: () => Promise<SmtpSession> }> {
      const smtp = await session()
      expect((await smtp.envelope('ada@customer.test', ...to)).code).toBe(250)
      const answered = performance.now()
      return {
        async later() {
          await waitFor(() => performance.now() - answered > 1_100, { what: 'the answers to be old' })
          return smtp
        },
      }
    }

    it('drops the mail for an inbox paused in the meantime, and delivers it to the others', async () => {
      const other = await fixture.inbox()
      const before = await storedMails()
      const [alone, both] = [await slowPeer(inbox.address), await slowPeer(inbox.address, other.address)]
      await fixture.setStatus(inbox, 'paused')
      for (const { later } of [alone, both]) {
        const smtp = await later()
        expect((await smtp.data(mail('too late'))).code).toBe(250)
        await smtp.quit()
      }
      const discarded = () =>
        facts.records.filter(({ key, type }) => key === inbox.inbox_uid && type !== 'mail.accepted')
      await waitFor(() => discarded().length === 2, { what: 'the facts' })
      expect(discarded().map(({ type }) => type)).toEqual(['mail.discarded', 'mail.discarded'])
      await waitFor(async () => (await stored(other)) === 1, { what: 'the copy of the other' })
      expect(await stored(inbox)).toBe(0)
      await waitFor(async () => (await storedMails()) === before + 1, { what: 'the deletion of unused bytes' })
    })

    it.each([
      ['small', ''],
      ['large', LARGE_TEXT],
    ])('answers 550 when all inboxes were deleted in the meantime: a %s mail', async (_size, text) => {
      const other = await fixture.inbox()
      const before = await storedMails()
      const [alone, both] = [await slowPeer(inbox.address), await slowPeer(inbox.address, other.address)]
      await fixture.deleteInbox(inbox)
      const refused = await alone.later()
      const refusal = await refused.data(mail('too late') + text)
      expect(refusal.code).toBe(550)
      expect(refusal.text).toMatch(/^5\.1\.1 /)
      await refused.quit()
      const taken = await both.later()
      expect((await taken.data(mail('for the other') + text)).code).toBe(250)
      await taken.quit()
      await waitFor(async () => (await stored(other)) === 1, { what: 'the copy of the other' })
      await waitFor(async () => (await storedMails()) === before + 1, { what: 'the deletion of unused bytes' })
    })
  })

  it('stores nothing of a mail whose client disconnects in the middle', async () => {
    const before = await storedMails()
    const smtp = await session()
    await smtp.envelope('ada@customer.test', inbox.address)
    await smtp.command('DATA')
    smtp.write('Subject: half a mail\r\n\r\nand then')
    smtp.drop()
    await sendMail({ port: fixture.smtpPort, from: 'ada@customer.test', to: inbox.address, text: 'whole' })
    await waitFor(async () => (await stored(inbox)) === 1, { what: 'the whole one' })
    expect(await storedMails()).toBe(before + 1)
  })

  it('stores the bytes unchanged, dots and 8-bit characters included', async () => {
    const smtp = await session()
    await smtp.envelope('ada@customer.test', inbox.address)
    const text = `${mail('dots')}.\r\n..two\r\nGrüße\r\n`
    expect((await smtp.data(text.trimEnd())).code).toBe(250)
    await smtp.quit()
    const [message] = await waitFor(async () => listed(), { what: 'the message' })
    const raw = await fixture.call(
      inbox.caller,
      'messages.getRaw',
      'GET',
      `/messages/${encodeURIComponent(message.message_id)}/raw`,
    )
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
    const bytes = Buffer.from(await file.arrayBuffer())
    expect(bytes.length).toBe(raw.body.size)
    expect(bytes.toString()).toMatch(/^Return-Path: <ada@customer\.test>\r\nDelivered-To: /)
    expect(bytes.toString().endsWith(text)).toBe(true)
  })
})

describe('a client', () => {
  it('has a limited number of connections', async () => {
    const open: SmtpSession[] = []
    for (let count = 0; count < 5; count++) open.push(await session())
    const refused = await session()
    await expect(refused.command('EHLO client.test')).rejects.toThrow()
    await open[0]?.quit()
    const again = await waitFor(
      async () => {
        const next = await session()
        return (await next.command('EHLO client.test').catch(() => undefined))?.code === 250 && next
      },
      { what: 'a free place' },
    )
    for (const smtp of [...open.slice(1), again]) await smtp.quit()
  })
})

async function listed() {
  const { body } = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
  return body.messages.length > 0 ? body.messages : undefined
}

/** Raw mails whose bytes are stored, in rows and in the blob store. */
async function storedMails(): Promise<number> {
  const files = await readdir(fixture.blobs, { recursive: true, withFileTypes: true })
  const blobs = files.filter((file) => file.isFile() && path.basename(file.parentPath) !== '.incoming')
  return blobs.length + (await countRows(fixture.db, 'raw_mails where content is not null'))
}
