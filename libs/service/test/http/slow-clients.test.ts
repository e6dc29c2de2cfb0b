import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { operations } from '@restante/contracts/operations'
import { answer, type ConnectionLimits, type Exchange, HttpListener, sendJson } from '../../src/http/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const health = { problems: async () => ({}), degradations: async () => ({}) }
/** More than the kernel buffers for a client that does not read. */
const LARGE = Buffer.alloc(32_000_000, 'x')

const listeners: HttpListener[] = []
const drips: NodeJS.Timeout[] = []

async function listen(
  limits: Partial<ConnectionLimits>,
  handle: (exchange: Exchange) => Promise<void> = async ({ response }) => sendJson(response, 200, {}),
): Promise<number> {
  const docsUrl = 'https://docs.example'
  const listener = new HttpListener({ port: 0, host: '127.0.0.1', log, docsUrl, health, handle, limits, drainMs: 100 })
  await listener.start()
  listeners.push(listener)
  return listener.port
}

interface Peer {
  readonly socket: Socket
  text: string
  closed: boolean
}

/** A connection that keeps what it reads. */
function open(port: number, text = ''): Peer {
  const socket = connect(port, '127.0.0.1')
  const peer: Peer = { socket, text: '', closed: false }
  socket.on('data', (chunk) => {
    peer.text += chunk
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    peer.closed = true
  })
  socket.write(text)
  return peer
}

/** Sends one byte after the other, until the connection closes. */
function drip(peer: Peer): void {
  drips.push(setInterval(() => peer.socket.write('a'), 20))
}

async function ended(peers: readonly Peer[]): Promise<void> {
  await until(() => peers.every((peer) => peer.closed))
}

/** Checks again until the condition holds. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

afterEach(async () => {
  for (const timer of drips.splice(0)) clearInterval(timer)
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()))
})

describe('a client is answered with 408 and disconnected when it', () => {
  it('drips the header of a request', async () => {
    const port = await listen({ headersMs: 200 })
    const peer = open(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    drip(peer)
    await ended([peer])
    expect(peer.text).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"message":"Request Timeout"\}$/)
  })

  it('drips the body of a request', async () => {
    const handle = (exchange: Exchange) =>
      answer({ ...operations['inboxes.create'], response: undefined }, async () => undefined, exchange, {}, {})
    const port = await listen({ headersMs: 200, requestMs: 400 }, handle)
    const peer = open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
    drip(peer)
    await ended([peer])
    expect(peer.text).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('never sends anything, or only line ends', async () => {
    const port = await listen({ headersMs: 200 })
    const peers = [open(port), open(port, '\r\n'.repeat(1_000))]
    await ended(peers)
    for (const { text } of peers) expect(text).toMatch(/^HTTP\/1\.1 408 /)
  })
})

it('idles without a request beyond the keep-alive time', async () => {
  const peer = open(await listen({ keepAliveMs: 100 }), 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await ended([peer])
  expect(peer.text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{\}$/)
})

describe('a response', () => {
  let givenUp = 0
  const large = async ({ response, path, signal }: Exchange): Promise<void> => {
    if (path === '/quick') return sendJson(response, 200, {})
    signal.addEventListener('abort', () => givenUp++)
    response.end(LARGE)
  }

  it('that the client does not read is aborted, and other clients are answered in the meantime', async () => {
    const port = await listen({ unreadMs: 300 }, large)
    const peers = Array.from({ length: 10 }, () => {
      const peer = open(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
      peer.socket.pause()
      return peer
    })
    const quick = await fetch(`http://127.0.0.1:${port}/quick`, { signal: AbortSignal.timeout(30_000) })
    expect(quick.status).toBe(200)
    await until(() => givenUp === peers.length)
    for (const { socket } of peers) socket.destroy()
  })

  it('that is read slowly arrives whole', async () => {
    const unreadMs = 2_000
    const port = await listen({ unreadMs }, large)
    const begun = performance.now()
    const { socket } = open(port, 'GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    let read = 0
    socket.on('data', (chunk) => {
      read += chunk.length
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    await once(socket, 'close')
    expect(read).toBeGreaterThan(LARGE.length)
    expect(performance.now() - begun).toBeGreaterThan(unreadMs)
  })

  it('that is slow to produce does not disconnect the client', async () => {
    const port = await listen({ unreadMs: 100 }, async ({ response }) => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      sendJson(response, 200, { late: true })
    })
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).json()).toEqual({ late: true })
  })
})

describe('a response sent before the end of its request', () => {
  it('costs neither the connection nor leaks a listener on it', async () => {
    const peers = new Set<Socket>()
    const port = await listen({}, async ({ request, response }) => {
      peers.add(request.socket)
      sendJson(response, 401, {})
    })
    const peer = open(port)
    const answers = () => peer.text.split('HTTP/1.1 401').length - 1
    for (let sent = 1; sent <= 12; sent++) {
      peer.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n')
      await until(() => answers() === sent)
      peer.socket.write('whole')
    }
    const [socket] = peers
    expect(peers.size).toBe(1)
    await until(() => (socket?.listenerCount('close') ?? 0) < 10)
    peer.socket.destroy()
  })
})

describe('connections beyond the limit are closed at once', () => {
  it('of all clients together', async () => {
    const port = await listen({ connections: 3 })
    const first = Array.from({ length: 3 }, () => open(port))
    await Promise.all(first.map(({ socket }) => once(socket, 'connect')))
    await ended([open(port)])
    first[0]?.socket.destroy()
    const again = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(again)
    for (const { socket } of first) socket.destroy()
  })

  it('of one client, while another is served', async () => {
    const port = await listen({ peerConnections: 3 })
    const first = Array.from({ length: 3 }, () => open(port))
    await Promise.all(first.map(({ socket }) => once(socket, 'connect')))
    await ended([open(port)])
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const [answered] = await once(socket, 'data')
    expect(String(answered)).toMatch(/^HTTP\/1\.1 200 /)
    for (const { socket: open } of first) open.destroy()
  })
})
