import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { countRows, DnsZone, type Submission, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { dkimSign, sealMessage } from 'mailauth'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { untilProcessed } from '../mailbox-fixture.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  // Its record fits into one TXT string.
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const dkim = (domainName: string) => ({ domainName, keySelector: 's1', privateKey })
const key = { type: 'TXT' as const, data: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` }
const txt = (data: string) => ({ type: 'TXT' as const, data })

let fixture: Fixture
let zone: DnsZone
let inbox: TestInbox
let messages: TopicCollection
let facts: TopicCollection
let feedback: TopicCollection

beforeAll(async () => {
  zone = await new DnsZone().start()
  zone
    .set('spf.test', txt('v=spf1 ip4:127.0.0.1 -all'))
    .set('mail.spf.test', txt('v=spf1 ip4:127.0.0.1 -all'))
    .set('s1._domainkey.dkim.test', key)
    .set('dkim.test', txt('hello'))
    .set('_dmarc.permissive.test', txt('v=DMARC1; p=none'))
    .set('permissive.test', txt('v=spf1 -all'))
    .set('_dmarc.strict.test', txt('v=DMARC1; p=reject'))
    .set('strict.test', txt('v=spf1 -all'))
    .set('s1._domainkey.strict.test', key)
    .set('_dmarc.quarantined.test', txt('v=DMARC1; p=quarantine'))
    .set('quarantined.test', txt('v=spf1 -all'))
    .set('s1._domainkey.forwarder.test', key)
    .set('s1._domainkey.stranger.test', key)
  fixture = await openFixture({ SENDER_AUTH: 'dns', DNS_SERVERS: zone.address, ARC_TRUSTED_SEALERS: 'forwarder.test' })
  messages = await fixture.collect('mail.messages')
  facts = await fixture.collect('mail.inbound')
  feedback = await fixture.collect('mail.feedback')
})
afterAll(async () => {
  await fixture.stop()
  await zone.stop()
})
beforeEach(async () => {
  inbox = await fixture.inbox()
})

async function receive(mail: Omit<Submission, 'port'>) {
  await sendMail({ port: fixture.smtpPort, to: inbox.address, text: 'Hello', subject: 'Hi', ...mail })
  const isOurs = ({ key: uid, type }: { key: string; type: string }) =>
    uid === inbox.inbox_uid && type.startsWith('message.received')
  const event = await messages.next(isOurs, { what: 'the received event' })
  return { type: event.type, restricted: event.headers['ce_restricted'], message: JSON.parse(event.value).message }
}

async function discarded(mail: Omit<Submission, 'port'>): Promise<string> {
  await sendMail({ port: fixture.smtpPort, to: inbox.address, text: 'Hello', subject: 'Hi', ...mail })
  const isFact = ({ key: uid, type }: { key: string; type: string }) =>
    uid === inbox.inbox_uid && type === 'mail.discarded'
  return JSON.parse((await facts.next(isFact, { what: 'the discard' })).value).reason
}

describe('sender authentication', () => {
  it.each([
    ['by SPF for its own domain', { from: 'ada@spf.test' }],
    [
      'by SPF for a domain of the same organization',
      { from: 'ada@spf.test', envelope: { from: 'bounce@mail.spf.test' } },
    ],
    ['by a DKIM signature of its domain', { from: 'ada@dkim.test', dkim: dkim('dkim.test') }],
    ['by DMARC', { from: 'ada@strict.test', dkim: dkim('strict.test') }],
  ])('passes %s', async (_how, mail) => {
    const envelope = 'envelope' in mail ? { envelope: { ...mail.envelope, to: inbox.address } } : {}
    const { type, restricted, message } = await receive({ ...mail, ...envelope })
    expect(type).toBe('message.received')
    expect(restricted).toBeUndefined()
    expect(message.labels).toEqual(['received', 'unread'])
    expect(message.headers['Authentication-Results']).toMatch(/^mx\.mail\.test;.*(spf|dkim|dmarc)=pass/s)
  })

  it.each([
    ['nothing is published for its domain', { from: 'ada@nothing.test' }],
    ['SPF passes for somebody else', { from: 'ceo@nothing.test', envelope: { from: 'eve@spf.test' } }],
    ['a signature is of somebody else', { from: 'ceo@nothing.test', dkim: dkim('dkim.test') }],
    ['DMARC fails under a permissive policy', { from: 'ada@permissive.test' }],
  ])('labels mail unauthenticated when %s', async (_why, mail) => {
    const envelope = 'envelope' in mail ? { envelope: { ...mail.envelope, to: inbox.address } } : {}
    const { type, restricted, message } = await receive({ ...mail, ...envelope })
    expect(type).toBe('message.received.unauthenticated')
    expect(restricted).toBe('unauthenticated')
    expect(message.labels).toEqual(['received', 'unread', 'unauthenticated'])
  })

  it.each(['strict.test', 'quarantined.test'])(
    'whose domain %s asks to refuse failures is discarded',
    async (domain) => {
      expect(await discarded({ from: `ada@${domain}` })).toBe('dmarc')
      const { body } = await fixture.call(
        inbox.caller,
        'messages.list',
        'GET',
        '/messages?include_unauthenticated=true',
      )
      expect(body.count).toBe(0)
    },
  )

  it.each([
    'mx.mail.test; dmarc=pass',
    '(x) mx.mail.test; dmarc=pass',
    '(a(b)c)mx.mail.test; dmarc=pass',
    'mx.mail.test(v1); dmarc=pass',
    '"mx\\.mail.test"; dmarc=pass',
    'mx.mail.test.; dmarc=pass',
    'mx.mail.test/1; dmarc=pass',
  ])("does not accept authentication results in this server's name: %s", async (value) => {
    const headers = {
      'Authentication-Results': `${value} header.from=bank.test`,
      'Received-SPF': 'pass (bank.test)',
      'ARC-Authentication-Results': `i=1; ${value} header.from=bank.test`,
    }
    const { message } = await receive({ from: 'ada@nothing.test', headers })
    const claims = Object.entries(message.headers).filter(([, text]) => String(text).includes('bank.test'))
    expect(claims.map(([name]) => name).sort()).toEqual([
      'X-Original-ARC-Authentication-Results',
      'X-Original-Authentication-Results',
      'X-Original-Received-SPF',
    ])
  })

  it('is shown in a member of its own, in lists too', async () => {
    const { message } = await receive({ from: 'Ada <Ada@STRICT.test>', dkim: dkim('strict.test') })
    expect(message.authentication).toEqual({
      verdict: 'pass',
      from_domain: 'strict.test',
      spf: 'fail',
      dkim: 'pass',
      dmarc: 'pass',
      arc: 'none',
    })
    const { body } = await fixture.call(inbox.caller, 'messages.list', 'GET', '/messages')
    expect(body.messages[0].authentication).toEqual(message.authentication)
  })

  it('shows a failure under a permissive policy', async () => {
    const { message } = await receive({ from: 'ada@permissive.test' })
    expect(message.authentication).toMatchObject({ verdict: 'fail', dmarc: 'fail', from_domain: 'permissive.test' })
  })
})

describe('a trusted forwarder', () => {
  const forwarded = async (signingDomain: string, original: string, more = '') => {
    const raw = Buffer.from(
      `From: ada@strict.test\r\nTo: ${inbox.address}\r\nSubject: forwarded\r\nMessage-ID: <${randomUUID()}@strict.test>\r\n${more}\r\nHello\r\n`,
    )
    const seal = await sealMessage(raw, {
      signingDomain,
      selector: 's1',
      privateKey,
      cv: 'none',
      authResults: `mx.${signingDomain}; dmarc=${original}`,
    })
    return { envelope: { from: `bounce@${signingDomain}`, to: inbox.address }, raw: Buffer.concat([seal, raw]) }
  }

  it('can vouch for a sender whose signature it broke', async () => {
    const { type, message } = await receive(await forwarded('forwarder.test', 'pass header.from=Strict.test'))
    expect(type).toBe('message.received')
    expect(message.headers['Authentication-Results']).toContain('arc=pass')
  })

  it.each([
    ['when it saw the failure itself', 'forwarder.test', 'fail header.from=strict.test'],
    ['when it is not trusted', 'stranger.test', 'pass header.from=strict.test'],
    ['when it saw the mail of another author', 'forwarder.test', 'pass header.from=evil.test'],
    ['when it names no author', 'forwarder.test', 'pass'],
  ])('does not %s', async (_when, domain, original) => {
    expect(await discarded(await forwarded(domain, original))).toBe('dmarc')
  })
})

describe('a mail that was changed after it was signed', () => {
  /** A signed mail, as its next holder may send it on. */
  async function signed(change: (mail: string) => string, options: Record<string, unknown> = {}) {
    const mail =
      `From: Ada <ada@strict.test>\r\nTo: ${inbox.address}\r\nSubject: The truth\r\nDate: ${new Date().toUTCString()}\r\n` +
      `Message-ID: <${randomUUID()}@strict.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nSigned words.\r\n`
    const by = { signingDomain: 'strict.test', selector: 's1', privateKey }
    const { signatures } = await dkimSign(Buffer.from(mail), {
      ...by,
      canonicalization: 'relaxed/relaxed',
      signatureData: [{ ...by, ...options }],
    })
    return { envelope: { from: 'eve@evil.test', to: inbox.address }, raw: change(signatures + mail) }
  }

  it('passes while it is unchanged', async () => {
    const { message } = await receive(await signed((mail) => mail))
    expect(message.authentication).toMatchObject({ verdict: 'pass', dkim: 'pass' })
  })

  it.each(['From: Ada <ada@strict.test>', 'Subject: A lie', 'To: you@x.test', 'Date: Mon, 2 Mar 2026 10:00:00 +0000'])(
    'is unauthenticated, not discarded, when a second field stands on top: %s',
    async (field) => {
      const { type, message } = await receive(await signed((mail) => `${field}\r\n${mail}`))
      expect(type).toBe('message.received.unauthenticated')
      expect(message.authentication.verdict).not.toBe('pass')
      expect(message.headers['Authentication-Results']).not.toMatch(/(?:dkim|dmarc)=pass/)
    },
  )

  it('is unauthenticated, not discarded, when text was added beyond the signed length', async () => {
    const { type, message } = await receive(
      await signed((mail) => `${mail}Words of another.\r\n`, { maxBodyLength: 15 }),
    )
    expect(type).toBe('message.received.unauthenticated')
    expect(message.authentication).toMatchObject({ verdict: 'fail', dkim: 'policy', dmarc: 'fail' })
  })

  it('passes with a signed length that covers all of it', async () => {
    const { message } = await receive(await signed((mail) => mail, { maxBodyLength: 15 }))
    expect(message.authentication).toMatchObject({ verdict: 'pass', dkim: 'pass', dmarc: 'pass' })
  })

  it('is discarded when signed content was changed', async () => {
    const { raw, envelope } = await signed((mail) => mail.replace('Signed', 'Other'))
    expect(await discarded({ raw, envelope })).toBe('dmarc')
  })
})

describe('the raw mails of discarded mail', () => {
  it('are deleted', async () => {
    await discarded({ from: 'ada@strict.test' })
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0 and blob not in (select blob from messages)')
    await untilProcessed(fixture)
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })
})

describe('a report about sent mail', () => {
  async function reported(signer: string, change: (raw: string) => string = (raw) => raw): Promise<string[]> {
    const id = randomUUID()
    const to = fixture.returnPath.addressFor(id)
    const raw =
      `From: mailer-daemon@${signer}\r\nTo: ${to}\r\nSubject: report\r\nMIME-Version: 1.0\r\n` +
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n' +
      'Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.test\r\n\r\n' +
      'Final-Recipient: rfc822; gone@customer.test\r\nAction: failed\r\nStatus: 5.1.1\r\n--b--\r\n'
    const by = { signingDomain: signer, selector: 's1', privateKey }
    const { signatures } = await dkimSign(Buffer.from(raw), { ...by, signatureData: [by] })
    await sendMail({ port: fixture.smtpPort, envelope: { from: '', to }, raw: change(signatures + raw) })
    const record = await feedback.next(({ key: deliveryId }) => deliveryId === id, { what: 'the report' })
    return JSON.parse(record.value).authenticated
  }

  it('has the domains that it is authenticated for, and no others', async () => {
    expect(await reported('dkim.test')).toEqual(['dkim.test'])
    expect(await reported('dkim.test', (raw) => raw.replace('gone@', 'other@'))).toEqual([])
    expect(await reported('keyless.test')).toEqual([])
  })
})
