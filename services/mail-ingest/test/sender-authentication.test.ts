import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { DnsZone, type Submission, sendMail, type TopicCollection, waitFor } from '@restante/testkit'
import { sealMessage } from 'mailauth'
import { openStage, type Stage, type TestInbox } from './stage.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  // Its record fits into one TXT string.
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const dkim = (domainName: string) => ({ domainName, keySelector: 's1', privateKey })
const key = { type: 'TXT' as const, data: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` }
const txt = (data: string) => ({ type: 'TXT' as const, data })

let stage: Stage
let zone: DnsZone
let inbox: TestInbox
let messages: TopicCollection
let facts: TopicCollection

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
    .silence('slow.test')
    .silence('_dmarc.slow.test')
  stage = await openStage({ SENDER_AUTH: 'dns', DNS_SERVERS: zone.address, ARC_TRUSTED_SEALERS: 'forwarder.test' })
  messages = await stage.collect('mail.messages')
  facts = await stage.collect('mail.inbound')
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await zone.stop()
}, 30_000)
beforeEach(async () => {
  inbox = await stage.inbox()
})

async function receive(mail: Omit<Submission, 'port'>) {
  await sendMail({ port: stage.smtpPort, to: inbox.address, text: 'Hello', subject: 'Hi', ...mail })
  const isOurs = ({ key: uid, type }: { key: string; type: string }) =>
    uid === inbox.inbox_uid && type.startsWith('message.received')
  const event = await messages.next(isOurs, { what: 'the received event' })
  return { type: event.type, restricted: event.headers['ce_restricted'], message: JSON.parse(event.value).message }
}

async function discarded(mail: Omit<Submission, 'port'>): Promise<string> {
  await sendMail({ port: stage.smtpPort, to: inbox.address, text: 'Hello', subject: 'Hi', ...mail })
  const isFact = ({ key: uid, type }: { key: string; type: string }) =>
    uid === inbox.inbox_uid && type === 'mail.discarded'
  return JSON.parse((await facts.next(isFact, { what: 'the discard' })).value).reason
}

describe('a sender', () => {
  it.each([
    ['by SPF for its own domain', { from: 'ada@spf.test' }],
    [
      'by SPF for a domain of the same organization',
      { from: 'ada@spf.test', envelope: { from: 'bounce@mail.spf.test' } },
    ],
    ['by a DKIM signature of its domain', { from: 'ada@dkim.test', dkim: dkim('dkim.test') }],
    ['by DMARC', { from: 'ada@strict.test', dkim: dkim('strict.test') }],
  ])('is verified %s', async (_how, mail) => {
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
  ])('is unauthenticated when %s', async (_why, mail) => {
    const envelope = 'envelope' in mail ? { envelope: { ...mail.envelope, to: inbox.address } } : {}
    const { type, restricted, message } = await receive({ ...mail, ...envelope })
    expect(type).toBe('message.received.unauthenticated')
    expect(restricted).toBe('unauthenticated')
    expect(message.labels).toEqual(['received', 'unread', 'unauthenticated'])
  })

  it('is unauthenticated, not waited for, when DNS does not answer within two seconds', async () => {
    const begun = Date.now()
    const { message } = await receive({ from: 'ada@slow.test' })
    expect(message.labels).toContain('unauthenticated')
    expect(Date.now() - begun).toBeLessThan(6_000)
  })

  it.each(['strict.test', 'quarantined.test'])(
    'whose domain %s asks to refuse failures is discarded',
    async (domain) => {
      expect(await discarded({ from: `ada@${domain}` })).toBe('dmarc')
      const { body } = await stage.call(inbox.caller, 'messages.list', 'GET', '/messages?include_unauthenticated=true')
      expect(body.count).toBe(0)
    },
  )

  it('cannot bring Authentication-Results in our name', async () => {
    const headers = { 'Authentication-Results': 'mx.mail.test; dmarc=pass header.from=bank.test' }
    const { message } = await receive({ from: 'ada@nothing.test', headers })
    expect(message.headers['Authentication-Results']).not.toContain('bank.test')
  })
})

describe('a forwarder that is trusted', () => {
  const forwarded = async (signingDomain: string, original: 'pass' | 'fail') => {
    const raw = Buffer.from(
      `From: ada@strict.test\r\nTo: ${inbox.address}\r\nSubject: forwarded\r\nMessage-ID: <${randomUUID()}@strict.test>\r\n\r\nHello\r\n`,
    )
    const seal = await sealMessage(raw, {
      signingDomain,
      selector: 's1',
      privateKey,
      cv: 'none',
      authResults: `mx.${signingDomain}; dmarc=${original} header.from=strict.test`,
    })
    return { envelope: { from: `bounce@${signingDomain}`, to: inbox.address }, raw: Buffer.concat([seal, raw]) }
  }

  it('may vouch for a sender whose mail it broke', async () => {
    const { type, message } = await receive(await forwarded('forwarder.test', 'pass'))
    expect(type).toBe('message.received')
    expect(message.headers['Authentication-Results']).toContain('arc=pass')
  })

  it.each([
    ['when it saw the failure itself', 'forwarder.test', 'fail' as const],
    ['when nobody trusts it', 'stranger.test', 'pass' as const],
  ])('does not %s', async (_when, domain, original) => {
    expect(await discarded(await forwarded(domain, original))).toBe('dmarc')
  })
})

describe('the raw mails of discarded mail', () => {
  it('are deleted', async () => {
    await discarded({ from: 'ada@strict.test' })
    const unused = () => stage.db.orm.rawMail.count({ where: { refs: 0, size: { gt: 0 } } })
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })
})
