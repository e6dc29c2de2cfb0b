import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import type { InternalRequestOf } from '@restante/contracts/internal'
import { countRows, FakeClamd, lastingPeriod, queryRows, SmtpSession, sendMail, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { untilProcessed } from '../mailbox-fixture.ts'
import { type FakeMailSend, startFakeMailSend } from '../peers/fake-mail-send.ts'

type Forwarded = InternalRequestOf<'mail-send.forwardToOperator'>

const clamd = new FakeClamd()
let mailSend: FakeMailSend
let fixture: Fixture
let forwarded: Forwarded[]

beforeAll(async () => {
  await clamd.start()
  mailSend = await startFakeMailSend()
  fixture = await openFixture({
    MAIL_SEND_URL: mailSend.url,
    CLAMD_URL: clamd.url,
    RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
    INBOUND_OPERATOR_MAILS: '200',
  })
})
afterAll(async () => {
  await fixture.stop()
  await Promise.all([mailSend.stop(), clamd.stop()])
})
beforeEach(() => {
  forwarded = []
  clamd.conduct = () => ({ answer: 'stream: OK' })
  accepting()
})

// No mail of one test is forwarded in another.
afterEach(() => idle())

function accepting(): void {
  mailSend.answers['mail-send.forwardToOperator'] = (request) => {
    // As mail-send does: what is handed over again under its id, because an answer came late, is the same mail.
    if (!forwarded.some(({ id }) => id === request.id)) forwarded.push(request)
    return {}
  }
}

let networks = 0
/** A client in a network that no other test connects from: each gets a quarter of what the operator may receive. */
const client = () => `127.101.${++networks}.1`
const letter = (text: string = randomUUID()) => `From: Ada <ada@customer.test>\r\nSubject: Hi\r\n\r\n${text}\r\n`
const send = (to: string | string[], raw = letter(), localAddress = client()) =>
  sendMail({ port: fixture.smtpPort, localAddress, envelope: { from: 'ada@customer.test', to }, raw })
const forwardedOne = () => waitFor(() => forwarded[0], { what: 'the mail to be forwarded' })
const idle = () => untilProcessed(fixture)
const bytesOf = ({ content }: Forwarded) => ('bytes' in content ? Buffer.from(content.bytes, 'base64').toString() : '')

describe('mail to the operator', () => {
  it.each(['postmaster@mail.test', 'Abuse@Mail.Test', 'postmaster@bounces.mail.test', 'abuse@bounces.mail.test'])(
    'is forwarded from %s, byte by byte',
    async (address) => {
      const raw = letter()
      await send(address, raw)
      const mail = await forwardedOne()
      expect(mail.recipient.toLowerCase()).toBe(address.toLowerCase())
      expect(mail).toMatchObject({ mail_from: 'ada@customer.test', peer: expect.any(String) })
      expect(bytesOf(mail)).toBe(raw)
      await idle()
      expect(forwarded).toHaveLength(1)
      expect(await countRows(fixture.db, 'messages')).toBe(0)
    },
  )

  it('is accepted for postmaster without a domain (RFC 5321 4.5.1)', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort, { localAddress: client() })
    expect((await smtp.envelope('', 'Postmaster')).code).toBe(250)
    expect((await smtp.data(letter())).code).toBe(250)
    await smtp.quit()
    expect(await forwardedOne()).toMatchObject({ recipient: 'Postmaster', mail_from: '' })
  })

  it('is not accepted at other names, and not at addresses with a tag', async () => {
    const smtp = await SmtpSession.open(fixture.smtpPort, { localAddress: client() })
    await smtp.command('EHLO client.test')
    await smtp.command('MAIL FROM:<ada@customer.test>')
    for (const name of ['hostmaster@mail.test', 'postmaster+x@mail.test', 'postmaster@elsewhere.test', 'abuse'])
      expect((await smtp.command(`RCPT TO:<${name}>`)).code).toBeGreaterThanOrEqual(500)
    await smtp.quit()
  })

  it('waits while mail-send is down, counts no attempt, and is forwarded under one id', async () => {
    mailSend.answers = {}
    const raw = letter()
    await send('postmaster@mail.test', raw)
    const rows = () =>
      queryRows<{ id: string; attempts: number }>(
        fixture.db,
        "select id, attempts from inbound where kind = 'operator' and due_at > now()",
      )
    const row = await waitFor(async () => (await rows())[0], { what: 'it to wait' })
    expect(row.attempts).toBe(0)
    accepting()
    const mail = await forwardedOne()
    expect(mail.id).toBe(row.id)
    expect(bytesOf(mail)).toBe(raw)
  })

  it('names the blob of a large mail, and keeps it until mail-send has answered', async () => {
    const blobs = await openBlobStore(`directory:${fixture.blobs}`)
    const raw = letter(`${'x'.repeat(70)}\r\n`.repeat(2_000))
    let read: Promise<Buffer> | undefined
    mailSend.answers['mail-send.forwardToOperator'] = (request) => {
      if ('blob' in request.content) read = blobs.buffer(request.content.blob)
      return {}
    }
    await send('abuse@mail.test', raw)
    expect((await waitFor(() => read, { what: 'the mail to be forwarded' })).toString()).toBe(raw)
    await idle()
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0')
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })

  it('is dropped when it has a virus', async () => {
    clamd.conduct = () => ({ answer: 'stream: Win.Test.EICAR_HDB-1 FOUND' })
    await send('abuse@mail.test')
    await idle()
    expect(forwarded).toEqual([])
  })

  it('is refused when it was forwarded from here', async () => {
    const raw = `X-Loop: postmaster@mail.test\r\n${letter()}`
    await expect(send('abuse@mail.test', raw)).rejects.toMatchObject({ responseCode: 554 })
    expect(await countRows(fixture.db, 'inbound')).toBe(0)
  })

  it('is refused beyond 10 MB, as soon as that is known; other recipients are not', async () => {
    const inbox = await fixture.inbox()
    const smtp = await SmtpSession.open(fixture.smtpPort, { localAddress: client() })
    await smtp.command('EHLO client.test')
    await smtp.command(`MAIL FROM:<ada@customer.test> SIZE=${10 * 1024 * 1024 + 1}`)
    expect(await smtp.command('RCPT TO:<postmaster@mail.test>')).toMatchObject({
      code: 552,
      text: expect.stringMatching(/^5\.3\.4 /),
    })
    expect((await smtp.command(`RCPT TO:<${inbox.address}>`)).code).toBe(250)
    await smtp.command('RSET')
    await smtp.command('MAIL FROM:<ada@customer.test>')
    expect((await smtp.command('RCPT TO:<postmaster@mail.test>')).code).toBe(250)
    expect((await smtp.data(letter(`${'x'.repeat(998)}\r\n`.repeat(10_600)))).code).toBe(552)
    await smtp.quit()
  })

  it('is deferred beyond a twentieth of the limit from one network; others still arrive', async () => {
    await lastingPeriod(3_600_000)
    const flood = client()
    for (let mail = 0; mail < 10; mail++) await send('postmaster@mail.test', letter(), flood)
    await expect(send('abuse@mail.test', letter(), flood)).rejects.toMatchObject({ responseCode: 451 })
    await send('abuse@mail.test')
    await idle()
    expect(forwarded).toHaveLength(11)
  })
})

describe('mail to the operator in one transaction', () => {
  it('under several of its addresses is forwarded once', async () => {
    await send(['postmaster@mail.test', 'abuse@mail.test'], letter())
    await forwardedOne()
    await idle()
    expect(forwarded).toHaveLength(1)
  })

  it('is apart from mail to an inbox, whose own limits apply', async () => {
    const { address } = await fixture.inbox()
    const { accepted, rejected, rejectedErrors } = await send([address, 'abuse@mail.test'])
    expect([accepted, rejected]).toEqual([[address], ['abuse@mail.test']])
    expect(rejectedErrors).toMatchObject([{ responseCode: 452 }])
  })
})

describe('mail to the operator from an inbox here', () => {
  async function handOver(raw: string, id = randomUUID()) {
    const blobs = await openBlobStore(`directory:${fixture.blobs}`)
    const name = `outbound/${id}`
    const { size, sha256 } = await blobs.put(name, Buffer.from(raw))
    const { outcome } = await fixture.peer('mail-ingest.acceptForOperator', {
      delivery_id: id,
      recipient: 'abuse@mail.test',
      mail_from: 'b@bounces.mail.test',
      sender_organization_id: randomUUID(),
      blob: { name, size, sha256 },
    })
    return outcome
  }

  it('is forwarded, once however often it is handed over', async () => {
    const [raw, id] = [letter(), randomUUID()]
    for (let time = 0; time < 3; time++) expect(await handOver(raw, id)).toBe('accepted')
    const mail = await forwardedOne()
    expect(mail).toMatchObject({ id, recipient: 'abuse@mail.test' })
    expect(mail.peer).toBeUndefined()
    expect(bytesOf(mail)).toBe(raw)
    await idle()
    expect(forwarded).toHaveLength(1)
  })

  it('is refused when it was forwarded from here', async () => {
    expect(await handOver(`X-Loop: postmaster@mail.test\r\n${letter()}`)).toBe('loop')
  })
})

describe('an operator who reads mail in an inbox here', () => {
  const OPERATOR = 'operations@mail.test'
  let inside: Fixture
  beforeAll(async () => {
    inside = await openFixture({ OPERATOR_ADDRESS: OPERATOR })
  })
  afterAll(() => inside.stop())
  const sendInside = (to: string) =>
    sendMail({ port: inside.smtpPort, envelope: { from: 'ada@customer.test', to }, raw: letter() })

  it('gets the mail in the inbox; until it exists, mail is deferred', async () => {
    await expect(sendInside('postmaster@mail.test')).rejects.toMatchObject({ responseCode: 451 })
    const response = await fetch(`${inside.gatewayUrl}/v0/inboxes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${inside.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'operations' }),
    })
    expect(response.status).toBeLessThan(300)
    await sendInside('postmaster@mail.test')
    await sendInside('abuse@mail.test')
    const messages = () => countRows(inside.db, 'messages where inbox_address = $1', OPERATOR)
    await waitFor(async () => (await messages()) === 2, { what: 'both mails' })
    expect(await countRows(inside.db, 'inbound')).toBe(0)
  })
})
