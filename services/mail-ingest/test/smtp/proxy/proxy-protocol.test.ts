import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describeWith, freePort, SmtpSession, waitFor } from '@restante/testkit'
import { SIGNATURE } from '../../../src/smtp/protocol/proxy-header.ts'
import { type Fixture, openFixture, type TestInbox } from '../../fixture.ts'
import { Peer } from '../../hostile/support/peer.ts'

/** The address of the proxies of these tests. */
const PROXY = '127.0.0.2'
/** Another address of this machine, which is none of a proxy. */
const STRANGER = '127.0.0.3'
const CLIENT = '203.0.113.5'

const text = (client = CLIENT) => `PROXY TCP4 ${client} 198.51.100.7 51234 25\r\n`
const binary = (client = CLIENT) =>
  Buffer.concat([
    SIGNATURE,
    Buffer.from([0x21, 0x11, 0, 12, ...client.split('.').map(Number), 198, 51, 100, 7, 0xc8, 0x22, 0, 25]),
  ]).toString('latin1')
const HEADERS = { 'version 1': text, 'version 2': binary } as const
const VERSIONS = ['version 1', 'version 2'] as const

let fixture: Fixture
let inbox: TestInbox
const open: Peer[] = []

beforeAll(async () => {
  fixture = await openFixture({ SMTP_PROXY_NETWORKS: `${PROXY}/32`, SMTP_PEER_CONNECTIONS: '2' })
  inbox = await fixture.inbox()
})
afterEach(() => {
  for (const peer of open.splice(0)) peer.drop()
})
afterAll(() => fixture.stop())

async function connect(localAddress: string): Promise<Peer> {
  const peer = await Peer.connect(fixture.smtpPort, localAddress)
  open.push(peer)
  return peer
}

/** Sends a mail in an open session. */
async function send(session: SmtpSession | Peer, subject: string): Promise<void> {
  const mail = `From: ada@x.test\r\nSubject: ${subject}\r\n\r\nbody`
  for (const line of ['EHLO client.test', 'MAIL FROM:<ada@x.test>', `RCPT TO:<${inbox.address}>`, 'DATA'])
    await session.command(line)
  expect((await session.command(`${mail}\r\n.`)).code).toBe(250)
}

/** A mail, as soon as it is in the inbox. */
function received(subject: string): Promise<{ message_id: string; labels: string[] }> {
  return waitFor(
    async () => {
      const { body } = await fixture.call(
        inbox.caller,
        'messages.list',
        'GET',
        '/messages?include_unauthenticated=true',
      )
      return body.messages.find((message: { subject: string }) => message.subject === subject)
    },
    { what: `the mail ${subject}` },
  )
}

/** The trace header that a mail got. */
async function hopOf(subject: string): Promise<string> {
  const found = await received(subject)
  const { body } = await fixture.call(
    inbox.caller,
    'messages.getRaw',
    'GET',
    `/messages/${encodeURIComponent(found.message_id)}/raw`,
  )
  const raw = await (await fetch(body.download_url.replace('http://public.test/v0', fixture.url))).text()
  return /^Received: (.*(?:\r\n[ \t].*)*)/m.exec(raw)?.[1] ?? ''
}

describe('a connection from a network of SMTP_PROXY_NETWORKS', () => {
  it('is judged by the address of its client: mail of loopback is trusted here, and that of others is not', async () => {
    const labels = async (client: string) => {
      const peer = await connect(PROXY)
      peer.send(text(client))
      await peer.hears(/^220 /)
      await send(peer, `from ${client}`)
      return (await received(`from ${client}`)).labels
    }
    expect(await labels('127.0.0.9')).not.toContain('unauthenticated')
    expect(await labels(CLIENT)).toContain('unauthenticated')
  })

  it.each(VERSIONS)('is a session of the client that a header of %s names', async (version) => {
    const peer = await connect(PROXY)
    peer.send(HEADERS[version]())
    await peer.hears(/^220 /)
    await send(peer, `by ${version}`)
    expect(await hopOf(`by ${version}`)).toMatch(`([${CLIENT}])`)
  })

  it.each(VERSIONS)('waits for a header of %s that arrives byte by byte', async (version) => {
    const peer = await connect(PROXY)
    await peer.sendBytes(HEADERS[version]())
    await peer.hears(/^220 /)
  })

  it('reads a header and the commands behind it from one packet as two', async () => {
    const peer = await connect(PROXY)
    // A client that does not wait for the greeting is refused, with a proxy in front as without one.
    peer.send(`${text()}EHLO client.test\r\n`)
    await peer.closed()
    expect(peer.said).toMatch(/^421 .*You talk too soon\r\n$/)
  })

  it('starts TLS after the header', async () => {
    const session = await SmtpSession.open(fixture.smtpPort, { localAddress: PROXY, first: text() })
    await session.command('EHLO client.test')
    await session.startTls()
    await send(session, 'over TLS')
    const hop = await hopOf('over TLS')
    expect(hop).toMatch(`([${CLIENT}])`)
    expect(hop).toMatch('with ESMTPS')
    await session.quit()
  })

  it('counts for the limit of its client, not of the proxy', async () => {
    const clients = ['203.0.113.21', '203.0.113.22', '203.0.113.23', '203.0.113.21']
    for (const client of clients) {
      const peer = await connect(PROXY)
      peer.send(text(client))
      await peer.hears(/^220 /)
    }
    const third = await connect(PROXY)
    third.send(binary('203.0.113.21'))
    await third.closed()
    expect(third.said).toMatch(/^421 4\.7\.0 Too many connections from your address/)
  })

  it.each([
    ['PROXY UNKNOWN', 'PROXY UNKNOWN\r\n'],
    ['LOCAL', Buffer.concat([SIGNATURE, Buffer.from([0x20, 0, 0, 0])]).toString('latin1')],
  ])('is a session of the proxy itself after %s', async (what, header) => {
    const peer = await connect(PROXY)
    peer.send(header)
    await peer.hears(/^220 /)
    await send(peer, what)
    expect(await hopOf(what)).toMatch(`([${PROXY}])`)
  })

  it.each([
    ['a command', 'EHLO client.test\r\n'],
    ['a malformed header', 'PROXY TCP4 203.0.113.5\r\n'],
    ['a header that is too long', `PROXY UNKNOWN ${'x'.repeat(200)}`],
    [
      'a header of UDP',
      Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x12, 0, 12, ...Buffer.alloc(12)])]).toString('latin1'),
    ],
  ])('is answered 554 and closed when it begins with %s', async (_what, bytes) => {
    const peer = await connect(PROXY)
    peer.send(bytes)
    await peer.closed()
    expect(peer.said).toMatch(/^554 5\.5\.0 Refused for .*\r\n$/)
  })

  it('is answered 554 and closed when its header does not arrive within 5 s', async () => {
    const peer = await connect(PROXY)
    peer.drip('PROXY UNKNOWN '.slice(0, 1), 400)
    const silent = await connect(PROXY)
    await silent.closed()
    expect(silent.said).toBe('554 5.5.0 Refused for a header that did not arrive in time\r\n')
    await peer.closed()
    expect(peer.said).toMatch(/^554 /)
  })

  it('is answered 554 and closed when a second header follows', async () => {
    const peer = await connect(PROXY)
    peer.send(text())
    await peer.hears(/^220 /)
    peer.said = ''
    peer.send(text('203.0.113.99'))
    await peer.closed()
    expect(peer.said).toMatch(/^554 /)
  })
})

describe('a connection from any other address', () => {
  it('is a session of its own address, without a header', async () => {
    const peer = await connect(STRANGER)
    await peer.hears(/^220 /)
    await send(peer, 'direct')
    expect(await hopOf('direct')).toMatch(`([${STRANGER}])`)
  })

  it.each(VERSIONS)('is answered 554 and closed when it begins with a header of %s', async (version) => {
    const peer = await connect(STRANGER)
    peer.send(HEADERS[version]())
    await peer.closed()
    expect(peer.said).toMatch(/^554 .*No PROXY header is accepted from your address\r\n$/)
  })

  it.each(VERSIONS)('is answered 554 and closed when it sends a header of %s after the greeting', async (version) => {
    const peer = await connect(STRANGER)
    await peer.hears(/^220 /)
    peer.said = ''
    peer.send(HEADERS[version]())
    await peer.closed()
    expect(peer.said).toMatch(/^554 .*No PROXY header is accepted from your address\r\n$/)
  })
})

describeWith({ programs: ['haproxy'] }, 'HAProxy in front of mail-ingest', () => {
  const folder = path.resolve(import.meta.dirname, '../../../../../deploy/haproxy')
  let child: ChildProcess | undefined
  let state: string
  beforeAll(async () => {
    state = await mkdtemp(path.join(tmpdir(), 'restante-haproxy-'))
  })
  afterEach(async () => {
    if (child?.kill()) await once(child, 'exit')
    child = undefined
  })
  afterAll(() => rm(state, { recursive: true, force: true }))

  it.each([
    ['send-proxy-v2', 'the file for operators, unchanged'],
    ['send-proxy', 'version 1 in its place'],
  ])('passes on the address of clients by %s (%s)', async (option) => {
    const own = await readFile(path.join(folder, 'smtp.cfg'), 'utf8')
    const file = path.join(state, `${option}.cfg`)
    // Its clients and its server share a machine: it reaches the server from the address of a proxy.
    const config = own.replaceAll('send-proxy-v2', option).replace(/ check$/m, ` check source ${PROXY}`)
    await writeFile(file, config)
    const port = await freePort()
    child = spawn('haproxy', ['-db', '-f', path.join(folder, 'defaults.cfg'), '-f', file], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        SMTP_BIND: `127.0.0.1:${port}`,
        SMTP_1: `127.0.0.1:${fixture.smtpPort}`,
        SMTP_2: `127.0.0.1:${await freePort()}`,
        SMTP_HEALTH_PORT: new URL(fixture.url).port,
      },
    })
    const session = await waitFor(() => SmtpSession.open(port, { localAddress: '127.0.0.4' }), { what: 'HAProxy' })
    await send(session, `through ${option}`)
    expect(await hopOf(`through ${option}`)).toMatch('([127.0.0.4])')
    await session.quit()
  })
})
