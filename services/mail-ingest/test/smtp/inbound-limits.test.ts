import { randomUUID } from 'node:crypto'
import { openBlobStore } from '@restante/blobs'
import { countRows, lastingPeriod, openRedis, SmtpSession, type TestRedis, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'

let fixture: Fixture
let redis: TestRedis
let networks = 0

beforeAll(async () => {
  redis = openRedis()
  fixture = await openFixture({
    RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
    REDIS_CACHE_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    INBOUND_NETWORK_MAILS: '12',
    INBOUND_NETWORK_BYTES: '2000000',
    INBOUND_INBOX_MAILS: '8',
    INBOUND_ORGANIZATION_MAILS: '400',
    INBOUND_EXEMPT_NETWORKS: '127.200.0.0/16',
    ORGANIZATION_STORAGE_MB: '1',
  })
})
// What counts of the hour before would change at its end.
beforeEach(() => lastingPeriod(3_600_000))
afterAll(async () => {
  await fixture.stop()
  await redis.close()
})

/** An address in a network that no other test connects from. */
const network = () => `127.100.${++networks}.`
const from = (localAddress: string) => SmtpSession.open(fixture.smtpPort, { localAddress })
const stored = (inbox: TestInbox) => countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)

const someMail = () => `Message-ID: <${randomUUID()}@customer.test>\r\nSubject: x\r\n\r\nbody\r\n`

async function send(smtp: SmtpSession, to: string, mail = someMail(), parameters = '') {
  await smtp.command('RSET')
  const begun = await smtp.command(`MAIL FROM:<ada@customer.test>${parameters}`)
  if (begun.code !== 250) return begun
  const named = await smtp.command(`RCPT TO:<${to}>`)
  return named.code === 250 ? smtp.data(mail) : named
}

async function session(localAddress: string): Promise<SmtpSession> {
  const smtp = await from(localAddress)
  await smtp.command('EHLO client.test')
  return smtp
}

/** What becomes of a mail that another inbox here sends. */
async function handOver(inbox: TestInbox, sender: string | undefined, raw = someMail()) {
  const blobs = await openBlobStore(`directory:${fixture.blobs}`)
  const name = `outbound/${randomUUID()}`
  const { size, sha256 } = await blobs.put(name, Buffer.from(raw))
  const { organization_id, pod_id, inbox_uid } = inbox
  const { outcome } = await fixture.peer('mail-ingest.acceptInbound', {
    delivery_id: randomUUID(),
    organization_id,
    pod_id,
    inbox_uid,
    recipient: inbox.address,
    mail_from: 'b@bounces.mail.test',
    ...(sender !== undefined && { sender_organization_id: sender }),
    blob: { name, size, sha256 },
  })
  return outcome
}

async function limited(limit: string): Promise<number> {
  const metrics = await (await fetch(fixture.metricsUrl)).text()
  return Number(
    new RegExp(`^restante_inbound_limited_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0,
  )
}

const COME_AGAIN = { code: 451, text: expect.stringMatching(/^4\.7\.1 /) }

describe('the mails of one network', () => {
  it('are deferred at MAIL beyond the limit, for all its addresses; other networks are not', async () => {
    const net = network()
    const before = await limited('network_mails')
    const one = await session(`${net}1`)
    for (let mail = 0; mail < 12; mail++)
      expect((await one.command('MAIL FROM:<a@b.test>')).code).toBe((await one.command('RSET')).code)
    const two = await session(`${net}2`)
    expect(await two.command('MAIL FROM:<a@b.test>')).toEqual(COME_AGAIN)
    expect(await limited('network_mails')).toBe(before + 1)
    const other = await session(`${network()}1`)
    expect((await other.command('MAIL FROM:<a@b.test>')).code).toBe(250)
    for (const smtp of [one, two, other]) await smtp.quit()
  })

  it('count with the bytes that arrived, whatever SIZE said', async () => {
    const inbox = await fixture.inbox()
    for (const parameters of ['', ' SIZE=1']) {
      const smtp = await session(`${network()}1`)
      const mail = `Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(14_500)}`
      const paused = await fixture.inbox()
      await fixture.setStatus(paused, 'paused')
      // Two of 1.04 MB exceed the limit of 2 MB, and nothing was declared.
      expect((await send(smtp, paused.address, mail, parameters)).code).toBe(250)
      expect((await send(smtp, paused.address, mail, parameters)).code).toBe(250)
      expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
      await smtp.quit()
    }
  })

  it('are refused by their declared SIZE, which is given back when the mail does not arrive', async () => {
    const smtp = await session(`${network()}1`)
    for (let round = 0; round < 3; round++) {
      expect((await smtp.command('MAIL FROM:<a@b.test> SIZE=1500000')).code).toBe(250)
      await smtp.command('RSET')
    }
    expect((await smtp.command('MAIL FROM:<a@b.test> SIZE=1500000')).code).toBe(250)
    const beside = await smtp.command('RSET').then(() => smtp.command('MAIL FROM:<a@b.test> SIZE=2000001'))
    expect(beside).toEqual(COME_AGAIN)
    await smtp.quit()
  })

  it('are not limited for an exempt network, but its recipients are', async () => {
    const inbox = await fixture.inbox()
    const smtp = await session('127.200.1.1')
    for (let mail = 0; mail < 20; mail++)
      expect((await smtp.command('MAIL FROM:<a@b.test>')).code).toBe((await smtp.command('RSET')).code)
    for (let mail = 0; mail < 2; mail++) expect((await send(smtp, inbox.address)).code).toBe(250)
    expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
    await smtp.quit()
  })
})

describe('the mails for one inbox', () => {
  it('are at most a quarter from one network, and all from several; each recipient separately', async () => {
    const [inbox, other] = [await fixture.inbox(), await fixture.inbox()]
    for (let round = 0; round < 4; round++) {
      const smtp = await session(`${network()}1`)
      for (let mail = 0; mail < 2; mail++) expect((await send(smtp, inbox.address)).code).toBe(250)
      await smtp.command('MAIL FROM:<ada@customer.test>')
      expect(await smtp.command(`RCPT TO:<${inbox.address}>`)).toEqual(COME_AGAIN)
      if (round < 2) {
        expect((await smtp.command(`RCPT TO:<${other.address}>`)).code).toBe(250)
        expect((await smtp.data(someMail())).code).toBe(250)
      }
      await smtp.quit()
    }
    const smtp = await session(`${network()}1`)
    const before = await limited('inbox')
    expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
    expect(await limited('inbox')).toBe(before + 1)
    await smtp.quit()
    await waitFor(async () => (await stored(inbox)) === 8 && (await stored(other)) === 2, { what: 'the mails' })
  })

  it('are not used up by recipients without a mail, or with a refused one', async () => {
    const inbox = await fixture.inbox()
    const smtp = await session(`${network()}1`)
    for (let round = 0; round < 5; round++) {
      await smtp.command('MAIL FROM:<ada@customer.test>')
      expect((await smtp.command(`RCPT TO:<${inbox.address}>`)).code).toBe(250)
      await smtp.command('RSET')
    }
    const loop = 'Received: by elsewhere.test\r\n'.repeat(51)
    for (let round = 0; round < 3; round++) {
      expect((await send(smtp, inbox.address, `${loop}Subject: x\r\n\r\nbody\r\n`)).code).toBe(554)
    }
    for (let mail = 0; mail < 2; mail++) expect((await send(smtp, inbox.address)).code).toBe(250)
    await smtp.quit()
  })

  it('are counted once for a mail that names its inbox again, also by another spelling or a tag', async () => {
    const inbox = await fixture.inbox()
    const smtp = await session(`${network()}1`)
    const tagged = inbox.address.replace('@', '+tag@')
    await smtp.command('MAIL FROM:<ada@customer.test>')
    for (const address of [inbox.address, inbox.address, inbox.address.toUpperCase(), tagged])
      expect((await smtp.command(`RCPT TO:<${address}>`)).code).toBe(250)
    expect((await smtp.data(someMail())).code).toBe(250)
    expect((await send(smtp, inbox.address)).code).toBe(250)
    expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
    await smtp.quit()
  })

  it.each(['RSET', 'EHLO client.test'])('are given back to others at %s', async (command) => {
    const inbox = await fixture.inbox()
    const net = network()
    const idle = [await session(`${net}1`), await session(`${net}2`)]
    for (const smtp of idle) await smtp.envelope('ada@customer.test', inbox.address)
    const smtp = await session(`${net}3`)
    expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
    for (const each of idle) expect((await each.command(command)).code).toBe(250)
    expect((await send(smtp, inbox.address)).code).toBe(250)
    for (const each of [...idle, smtp]) await each.quit()
  })

  it('count also when the client does not wait for the reply', async () => {
    const inbox = await fixture.inbox()
    const address = `${network()}1`
    for (let mail = 0; mail < 2; mail++) {
      const smtp = await session(address)
      await smtp.envelope('ada@customer.test', inbox.address)
      await smtp.command('DATA')
      smtp.write(`Subject: ${mail}\r\n\r\nbody\r\n.\r\n`)
      smtp.drop()
    }
    await waitFor(async () => (await stored(inbox)) === 2, { what: 'both mails' })
    const smtp = await session(address)
    expect(await send(smtp, inbox.address)).toEqual(COME_AGAIN)
    await smtp.quit()
  })
})

describe('a mail in a loop', () => {
  const hop = (address: string) =>
    `Received: from a ([192.0.2.1])\r\n\tby mx.mail.test with ESMTP id ${randomUUID()}\r\n\tfor <${address}>; Sat, 21 Nov 2026 05:00:00 +0000\r\n`
  const LOOP = { code: 554, text: expect.stringMatching(/^5\.4\.6 /) }

  it('is refused for all its recipients, and the session continues', async () => {
    const [inbox, other] = [await fixture.inbox(), await fixture.inbox()]
    const smtp = await session(`${network()}1`)
    await smtp.envelope('ada@customer.test', inbox.address, other.address)
    expect(await smtp.data(`${hop(inbox.address)}${hop(inbox.address)}${someMail()}`)).toEqual(LOOP)
    await smtp.envelope('ada@customer.test', inbox.address)
    expect(await smtp.data(`${'Received: by elsewhere.test\r\n'.repeat(51)}${someMail()}`)).toEqual(LOOP)
    const once = `${hop(inbox.address)}${hop(other.address)}${hop(other.address)}${someMail()}`
    expect((await send(smtp, inbox.address, once)).code).toBe(250)
    await smtp.quit()
    await waitFor(async () => (await stored(inbox)) === 1, { what: 'the mail that was taken' })
    expect(await stored(other)).toBe(0)
  })
})

describe('mail that is handed over internally', () => {
  it('counts for its recipients: a quarter for another organization, all for the own', async () => {
    const inbox = await fixture.inbox()
    const stranger = randomUUID()
    const outcomes: string[] = []
    for (let mail = 0; mail < 3; mail++) outcomes.push(await handOver(inbox, stranger))
    expect(outcomes).toEqual(['accepted', 'accepted', 'limited'])
    for (let mail = 0; mail < 6; mail++) expect(await handOver(inbox, inbox.organization_id)).toBe('accepted')
    expect(await handOver(inbox, inbox.organization_id)).toBe('limited')
  })

  it('is refused when it is in a loop', async () => {
    const inbox = await fixture.inbox()
    const hop = `Received: by mx.mail.test id ${randomUUID()}\r\n\tfor <${inbox.address}>; Sat, 21 Nov 2026 05:00:00 +0000\r\n`
    expect(await handOver(inbox, undefined, `${hop}${hop}Subject: x\r\n\r\nbody\r\n`)).toBe('loop')
    expect(await handOver(inbox, undefined, `${hop}Subject: x\r\n\r\nbody\r\n`)).toBe('accepted')
  })
})

describe('the keys in Redis', () => {
  it('contain no address, and expire', async () => {
    const inbox = await fixture.inbox()
    const smtp = await session(`${network()}1`)
    expect((await send(smtp, inbox.address)).code).toBe(250)
    await smtp.quit()
    const keys = await waitFor(
      async () => {
        const found = await redis.client.keys(`${redis.prefix}:mail-ingest:inbound:*`)
        return found.some((key) => key.includes(inbox.inbox_uid)) ? found : undefined
      },
      { what: 'the counters of the inbox' },
    )
    expect(keys.join('\n')).not.toMatch(/127\.100|@|customer/)
    for (const key of keys) expect(await redis.client.pttl(key)).toBeGreaterThan(3_600_000)
  })
})

describe('the storage of an organization', () => {
  it('when full, defers mail at RCPT with 452, and hand-overs', async () => {
    const inbox = await fixture.inbox()
    const smtp = await session(`${network()}1`)
    const body = `${'x'.repeat(70)}\r\n`.repeat(15_000)
    expect((await send(smtp, inbox.address, `Subject: x\r\n\r\n${body}`)).code).toBe(250)
    await smtp.command('MAIL FROM:<ada@customer.test>')
    const full = { code: 452, text: expect.stringMatching(/^4\.2\.2 /) }
    expect(await smtp.command(`RCPT TO:<${inbox.address}>`)).toEqual(full)
    await smtp.quit()
    expect(await handOver(inbox, undefined)).toBe('full')
  })
})
