import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { DnsZone, freePort, MailPeer } from '@restante/testkit'
import { Resolvers } from '../../src/dns/resolvers.ts'
import { newKeyPair } from '../../src/keys/key-pair.ts'
import { checkDkim } from '../../src/sending-checks/dkim.ts'
import { checkMailFrom } from '../../src/sending-checks/mail-from.ts'
import { mailauthResolver } from '../../src/sending-checks/mailauth-resolver.ts'
import { returnHosts } from '../../src/sending-checks/return-hosts.ts'

let zone: DnsZone
let host: MailPeer
let resolvers: Resolvers
const resolver = () => mailauthResolver((question) => resolvers.askAll(question))

beforeAll(async () => {
  ;[zone, host] = await Promise.all([new DnsZone().start(), new MailPeer().start()])
  resolvers = new Resolvers({ servers: [zone.address] })
})
afterAll(() => Promise.all([zone.stop(), host.stop()]))

describe('the check of DKIM', () => {
  const NAME = 'svc1._domainkey.signed.test'
  let pair: Awaited<ReturnType<typeof newKeyPair>>
  beforeAll(async () => {
    pair = await newKeyPair()
  })
  const check = () => checkDkim({ domain: 'signed.test', selector: 'svc1', privateKey: pair.privateKey }, resolver())

  it('passes when a signed message verifies with the published key', async () => {
    zone.set(NAME, { type: 'TXT', data: `v=DKIM1; k=rsa; p=${pair.publicKey}` })
    expect(await check()).toBe('passed')
  })

  it('fails with another key, a revoked one and none', async () => {
    const other = await newKeyPair()
    for (const key of [other.publicKey, '']) {
      zone.set(NAME, { type: 'TXT', data: `v=DKIM1; k=rsa; p=${key}` })
      expect(await check()).toBe('failed')
    }
    zone.remove(NAME)
    expect(await check()).toBe('failed')
  })

  it('fails when the record forbids the signature that the installation makes', async () => {
    zone.set(NAME, { type: 'TXT', data: `v=DKIM1; k=rsa; h=sha1; p=${pair.publicKey}` })
    expect(await check()).toBe('failed')
  })

  it('is unanswered while DNS fails or is silent', async () => {
    zone.fail(NAME)
    expect(await check()).toBe('unanswered')
    zone.silence(NAME)
    expect(await check()).toBe('unanswered')
  })
})

describe('the check of MAIL FROM', () => {
  const { signal } = new AbortController()
  const check = (outboundAddresses: readonly string[], hosts?: ReturnType<typeof returnHosts>) =>
    checkMailFrom('mail.sender.test', { outboundAddresses, hosts }, resolver(), signal)
  const probe = (name: string, port: number) => returnHosts(resolvers, { host: name, port })

  beforeEach(() => {
    zone.set('mail.sender.test', { type: 'TXT', data: 'v=spf1 include:spf.restante.test -all' })
    zone.set('spf.restante.test', {
      type: 'TXT',
      data: 'v=spf1 ip4:192.0.2.0/28 ip6:2001:db8::/64 a:out.restante.test -all',
    })
    zone.set('out.restante.test', { type: 'A', address: '198.51.100.7' })
  })

  it('passes when SPF passes for every address that mail leaves from', async () => {
    expect(await check(['192.0.2.1', '2001:db8::1', '198.51.100.7'])).toBe('passed')
    expect(await check([])).toBe('passed')
  })

  it('fails when SPF does not pass for one of them', async () => {
    expect(await check(['192.0.2.1', '192.0.2.99'])).toBe('failed')
    zone.set('mail.sender.test', { type: 'TXT', data: 'v=spf1 ~all include:spf.restante.test' })
    expect(await check(['192.0.2.1'])).toBe('failed')
  })

  it('fails when the policy of the installation has an error', async () => {
    zone.set('spf.restante.test', { type: 'TXT', data: 'v=spf1 include:none.restante.test -all' })
    expect(await check(['192.0.2.1'])).toBe('failed')
  })

  it('is unanswered within its time when a policy names many slow servers, and asks each question once', async () => {
    const slow = Array.from({ length: 9 }, (_, index) => `slow${index}.sender.test`)
    for (const name of slow) zone.set(name, { type: 'TXT', data: 'v=spf1 ?all' })
    const includes = [...slow, 'spf.restante.test'].map((name) => `include:${name}`)
    zone.set('mail.sender.test', { type: 'TXT', data: `v=spf1 ${includes.join(' ')} -all` })
    let questions = 0
    const late = mailauthResolver(async (question) => {
      questions++
      if (question.name.startsWith('slow')) await sleep(3_000, undefined, { ref: false })
      return resolvers.askAll(question)
    })
    const options = { outboundAddresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'], hosts: undefined, spfMs: 1_200 }
    const begun = performance.now()
    expect(await checkMailFrom('mail.sender.test', options, late, signal)).toBe('unanswered')
    // All nine servers together would take 27 s.
    expect(performance.now() - begun).toBeLessThan(12_000)
    expect(questions).toBeLessThan(6)
  })

  it('is unanswered while DNS fails', async () => {
    zone.fail('spf.restante.test')
    expect(await check(['192.0.2.1'])).toBe('unanswered')
  })

  it('passes when the host of returned mail accepts the postmaster of the return path, and sends nothing', async () => {
    zone.set('mx.restante.test', { type: 'A', address: '127.0.0.1' })
    expect(await check([], probe('mx.restante.test', host.port))).toBe('passed')
    expect(host.attempts.at(-1)).toBe('postmaster@mail.sender.test')
    expect(host.mails).toHaveLength(0)
  })

  it('fails when the host refuses it for good, and is unanswered when it does for now', async () => {
    host.answerRecipient('postmaster@mail.sender.test', '550 5.1.2 unknown')
    expect(await check([], probe('127.0.0.1', host.port))).toBe('failed')
    host.answerRecipient('postmaster@mail.sender.test', '451 4.3.0 later')
    expect(await check([], probe('127.0.0.1', host.port))).toBe('unanswered')
  })

  it('is unanswered when the host is unknown, refuses connections, or closes them', async () => {
    expect(await check([], probe('nowhere.restante.test', 25))).toBe('unanswered')
    expect(await check([], probe('127.0.0.1', await freePort()))).toBe('unanswered')
    const closing = await closingServer()
    expect(await check([], probe('127.0.0.1', closing.port))).toBe('unanswered')
    closing.server.close()
  })

  it('is unanswered when the host never greets', async () => {
    const silent = await closingServer({ closes: false })
    expect(await check([], probe('127.0.0.1', silent.port))).toBe('unanswered')
    silent.server.close()
  })
})

async function closingServer({ closes = true } = {}): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (closes) socket.end('220 here')
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { server, port }
}
