import { execFileSync } from 'node:child_process'
import { createHash, randomUUID, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DnsZone, MailPeer, type MailPeerOptions, PATIENCE_MS } from '@restante/testkit'
import type { Outcome } from '../../../src/delivery/outcome/outcome.ts'
import { Dane } from '../../../src/delivery/routes/dane/dane.ts'
import { isOnThisMachine, SecureDns } from '../../../src/delivery/routes/dane/secure-dns.ts'
import { MxHosts } from '../../../src/delivery/routes/mx-hosts.ts'
import { MxSessions } from '../../../src/delivery/routes/mx-sessions.ts'
import { Session } from '../../../src/delivery/smtp/session.ts'
import { usable } from '../../../src/delivery/smtp/tlsa.ts'

const zone = new DnsZone()
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'dane-'))
  await zone.start()
})
afterAll(async () => {
  await zone.stop()
  await rm(directory, { recursive: true })
})

type Matching = 0 | 1 | 2
type Selector = 0 | 1

/** The record that describes a certificate. */
function tlsa(cert: string, [usage, selector, mtype]: readonly [number, Selector, Matching]) {
  const { raw, publicKey } = new X509Certificate(cert)
  const whole = selector === 0 ? raw : publicKey.export({ type: 'spki', format: 'der' })
  const hash = ['', 'sha256', 'sha512'][mtype]
  return { type: 'TLSA' as const, usage, selector, mtype, data: hash ? createHash(hash).update(whole).digest() : whole }
}

interface Place {
  readonly domain: string
  readonly host: string
  readonly server: MailPeer
  /** Where its TLSA records are. */
  readonly at: string
}

/** A domain whose zone is signed, with one MX host. */
async function place(options: MailPeerOptions = {}, domain = `d-${randomUUID().slice(0, 8)}.example`): Promise<Place> {
  const host = `mx.${domain}`
  const server = await new MailPeer({ name: host, ...options }).start()
  const at = `_${server.port}._tcp.${host}`
  zone
    .set(domain, { type: 'MX', exchange: host, priority: 1 })
    .set(host, { type: 'A', address: '127.0.0.1' })
    .secure(domain, host, at)
  return { domain, host, server, at }
}

/** How a session with the domain comes about. @param lookUpMs for one question about secure records. */
async function reach({ domain, server }: Place, lookUpMs = PATIENCE_MS): Promise<'encrypted' | 'plain' | Outcome> {
  const mxHosts = new MxHosts({
    port: server.port,
    dnsServers: [zone.address],
    connectMs: PATIENCE_MS,
    allowLocal: true,
    dane: new Dane(new SecureDns([zone.address], lookUpMs)),
  })
  const timeouts = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS }
  const session = await new MxSessions({ mxHosts, ehloName: 'mail.restante.test', timeouts }).open(
    domain,
    new AbortController().signal,
  )
  await server.stop()
  if (!(session instanceof Session)) return session
  session.end()
  return session.secure ? 'encrypted' : 'plain'
}

const refused = { kind: 'deferred', verdict: { status: '4.7.5' } }

/** An authority, and a server's certificate below it. */
async function issue(name: string): Promise<{ authority: string; cert: string; key: string }> {
  const folder = await mkdtemp(path.join(directory, 'ca-'))
  const file = (what: string) => path.join(folder, what)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=Authority')
  openssl('req', ...key, '-keyout', file('key.pem'), '-out', file('request.pem'), '-subj', `/CN=${name}`)
  await writeFile(file('extensions'), `subjectAltName=DNS:${name}\n`)
  const signing = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('extensions')]
  openssl('x509', '-req', '-in', file('request.pem'), ...signing, '-days', '2', '-out', file('cert.pem'))
  const read = (what: string) => readFile(file(what), 'utf8')
  const [authority, cert, privateKey] = await Promise.all([read('ca.pem'), read('cert.pem'), read('key.pem')])
  return { authority, cert: `${cert}${authority}`, key: privateKey }
}

describe('a host with secure TLSA records', () => {
  const KINDS = [0, 1].flatMap((selector) => [0, 1, 2].map((mtype) => [selector, mtype] as [Selector, Matching]))

  it.each(KINDS)('is recognised by its own certificate: 3 %i %i', async (selector, mtype) => {
    const there = await place()
    zone.set(there.at, tlsa(there.server.certificate, [3, selector, mtype]))
    expect(await reach(there)).toBe('encrypted')
  })

  it('is recognised while its key is changed: by one of two records', async () => {
    const [there, next] = [await place(), await place()]
    const records = [next, there].map(({ server }) => tlsa(server.certificate, [3, 1, 1]))
    zone.set(there.at, ...records)
    await next.server.stop()
    expect(await reach(there)).toBe('encrypted')
  })

  it('gets no mail under another certificate', async () => {
    const [there, other] = [await place(), await place()]
    zone.set(there.at, tlsa(other.server.certificate, [3, 1, 1]))
    await other.server.stop()
    expect(await reach(there)).toMatchObject(refused)
    expect(there.server.attempts).toEqual([])
  })

  it('gets no mail without TLS', async () => {
    const there = await place({ tls: false })
    zone.set(there.at, tlsa(there.server.certificate, [3, 1, 1]))
    expect(await reach(there)).toMatchObject(refused)
  })

  it('that cannot be used still has to encrypt, under any certificate', async () => {
    const [there, plain] = [await place(), await place({ tls: false })]
    for (const { at, server } of [there, plain]) zone.set(at, tlsa(server.certificate, [1, 1, 1]))
    expect(await reach(there)).toBe('encrypted')
    expect(await reach(plain)).toMatchObject(refused)
  })

  it('is left while its records cannot be looked up', async () => {
    const [failing, silent] = [await place(), await place()]
    zone.fail(failing.at)
    zone.silence(silent.at)
    expect(await reach(failing)).toMatchObject(refused)
    expect(await reach(silent, 2_000)).toMatchObject(refused)
  })
})

describe('a host below an authority that secure TLSA records name', () => {
  async function below(names: (host: string) => string) {
    const domain = `d-${randomUUID().slice(0, 8)}.example`
    const { authority, ...identity } = await issue(names(`mx.${domain}`))
    return { authority, there: await place({ identity }, domain) }
  }

  it.each([
    ['its own name', (host: string) => host],
    ['the name of the domain', (host: string) => host.replace('mx.', '')],
  ])('is recognised by %s', async (_what, names) => {
    const { authority, there } = await below(names)
    zone.set(there.at, tlsa(authority, [2, 0, 1]))
    expect(await reach(there)).toBe('encrypted')
  })

  it('gets no mail under the name of another, or under another authority', async () => {
    const misnamed = await below(() => 'mx.other.example')
    zone.set(misnamed.there.at, tlsa(misnamed.authority, [2, 1, 1]))
    expect(await reach(misnamed.there)).toMatchObject(refused)
    const { there } = await below((host) => host)
    zone.set(there.at, tlsa(misnamed.authority, [2, 1, 1]))
    expect(await reach(there)).toMatchObject(refused)
  })
})

describe('a host without secure TLSA records', () => {
  it.each([
    ['in a zone that is not signed', (there: Place) => zone.insecure(there.at)],
    ['below an address that is not signed', (there: Place) => zone.insecure(there.host)],
    ['of a domain that is not signed', (there: Place) => zone.insecure(there.domain)],
  ])('gets its mail as ever, and its records are not believed: %s', async (_what, change) => {
    const [there, other] = [await place({ tls: false }), await place()]
    zone.set(there.at, tlsa(other.server.certificate, [3, 1, 1]))
    change(there)
    await other.server.stop()
    expect(await reach(there)).toBe('plain')
  })

  it('gets its mail as ever where there are none', async () => {
    expect(await reach(await place())).toBe('encrypted')
    expect(await reach(await place({ tls: false }))).toBe('plain')
  })

  it('is not asked for them below an address that is not signed: such zones may fail', async () => {
    const there = await place({ tls: false })
    zone.insecure(there.host).fail(there.at)
    expect(await reach(there)).toBe('plain')
  })
})

describe('a TLSA record', () => {
  const data = Buffer.alloc(32)
  it.each([
    [{ usage: 0, selector: 1, mtype: 1, cert: data }, false],
    [{ usage: 2, selector: 0, mtype: 1, cert: data }, true],
    [{ usage: 3, selector: 2, mtype: 1, cert: data }, false],
    [{ usage: 3, selector: 1, mtype: 2, cert: data }, false],
    [{ usage: 3, selector: 1, mtype: 3, cert: data }, false],
    [{ usage: 3, selector: 0, mtype: 0, cert: Buffer.alloc(0) }, false],
  ])('can be used only if it is of a known kind: %o', (record, expected) => {
    expect(usable([record])).toHaveLength(expected ? 1 : 0)
  })
})

describe('a resolver', () => {
  it.each([
    ['127.0.0.53', true],
    ['127.0.0.1:5353', true],
    ['::1', true],
    ['[::1]:53', true],
    ['10.0.0.1', false],
    ['[2001:db8::1]:53', false],
  ])('%s is on this machine: %s', (server, expected) => {
    expect(isOnThisMachine(server)).toBe(expected)
  })

  it('that is down is followed by the next', async () => {
    const dns = new SecureDns(['127.0.0.1:1', zone.address], PATIENCE_MS)
    zone.set('signed.example', { type: 'A', address: '127.0.0.1' }).secure('signed.example')
    expect(await dns.ask('signed.example', 'A')).toMatchObject({ secure: true })
  })
})
