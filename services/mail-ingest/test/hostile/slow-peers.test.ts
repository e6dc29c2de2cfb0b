import { connect as connectTls } from 'node:tls'
import { waitFor } from '@restante/testkit'
import { type Edge, openEdge } from './support/edge.ts'
import { Peer } from './support/peer.ts'

const TOO_SLOW = /421 4\.4\.2 Too slow, try again later\r\n$/
const MAX_CONNECTIONS = 20

let edge: Edge
const open: Peer[] = []

beforeAll(async () => {
  edge = await openEdge({
    SMTP_IDLE_TIMEOUT: '1500ms',
    SMTP_MIN_RATE: '1000',
  })
})
afterEach(() => {
  for (const peer of open.splice(0)) peer.drop()
})
afterAll(() => edge.stop())

async function greeted(localAddress?: string): Promise<Peer> {
  const peer = await Peer.greeted(edge.port, localAddress)
  open.push(peer)
  return peer
}

describe('a client that sends a byte now and then', () => {
  it('is disconnected in the middle of a command', async () => {
    const peer = await greeted()
    peer.drip('x', 50)
    await peer.closed()
    expect(peer.said).toMatch(TOO_SLOW)
  })

  it('is disconnected in the middle of a mail, of which nothing is stored', async () => {
    const { address, mails } = edge.destination()
    const peer = await greeted()
    await peer.begin(address)
    peer.drip('x', 50)
    await peer.closed()
    expect(peer.said).toMatch(TOO_SLOW)
    expect(await mails()).toEqual([])
  })

  it('is disconnected in the middle of a TLS handshake, as one that sends nothing', async () => {
    for (const hello of ['', '\x16\x03\x01\x10\x00\x01\x00\x0f\xfc\x03\x03']) {
      const peer = await greeted()
      await peer.command('EHLO evil.test')
      await peer.command('STARTTLS')
      const stop = hello === '' ? () => {} : peer.drip(hello.slice(0, 1), 50)
      peer.send(hello)
      await peer.closed()
      stop()
    }
    expect((await (await greeted()).command('NOOP')).code).toBe(250)
  })

  it('is disconnected inside TLS', async () => {
    const peer = await greeted()
    await peer.command('EHLO evil.test')
    await peer.command('STARTTLS')
    peer.socket.removeAllListeners('data')
    const secure = connectTls({ socket: peer.socket, rejectUnauthorized: false })
    secure.setEncoding('latin1')
    let said = ''
    secure.on('data', (text) => {
      said += text
    })
    secure.on('error', () => {})
    const timer = setInterval(() => secure.write('x'), 50)
    await waitFor(async () => TOO_SLOW.test(said), { what: 'the end' })
    clearInterval(timer)
    secure.destroy()
  })
})

describe('a slow client', () => {
  it('may take any time for a mail that arrives at the minimum rate', async () => {
    const { address, mails } = edge.destination()
    const peer = await greeted()
    await peer.begin(address)
    const begun = performance.now()
    const stop = peer.drip(`${'x'.repeat(198)}\r\n`, 50)
    await waitFor(async () => performance.now() - begun > 4_000, { what: 'more than twice the patience' })
    stop()
    expect((await peer.command('.')).code).toBe(250)
    const [mail] = await mails()
    expect(mail?.length).toBeGreaterThan(4_000)
  })
})

describe('a server with most connections in use', () => {
  let patient: Edge
  beforeAll(async () => {
    // The usual limit is an hour here, so only the shorter one can disconnect anybody during this test.
    patient = await openEdge({
      SMTP_IDLE_TIMEOUT: '1h',
      SMTP_TIMEOUT_UNDER_LOAD: '200ms',
      SMTP_MAX_CONNECTIONS: String(MAX_CONNECTIONS),
    })
  })
  afterAll(() => patient.stop())

  it('disconnects silent clients sooner', async () => {
    await Promise.all(
      Array.from({ length: MAX_CONNECTIONS }, async (_, index) =>
        open.push(await Peer.connect(patient.port, `127.0.1.${index + 1}`)),
      ),
    )
    const { address, mails } = patient.destination()
    const peer = await waitFor(
      async () => {
        const next = await Peer.connect(patient.port)
        open.push(next)
        await next.hears(/\r\n/)
        return next.codes[0] === 220 && next
      },
      { what: 'a place' },
    )
    await peer.begin(address)
    expect((await peer.command('Subject: urgent\r\n\r\nx\r\n.')).code).toBe(250)
    expect(await mails()).toHaveLength(1)
  })
})
