import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { CHANNEL_WINDOW } from '@restante/service/links'
import { waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from '../../gateway.ts'

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const OPENED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
/** Links that take new streams. */
const LINKS = 8

describe('the links that carry streams', () => {
  let gateway: TestGateway
  let key: string
  /** The ends of the streams at the stream service, in the order of their handshakes. */
  let inner: Duplex[]
  const sockets: Socket[] = []

  beforeAll(async () => {
    gateway = await startGateway()
    key = (await gateway.organization()).key
  })
  afterAll(() => gateway.stop())

  beforeEach(() => {
    inner = []
    gateway.behind.upgrade = (_request, socket) => {
      inner.push(socket.on('error', () => {}).once('end', () => socket.end()))
      socket.resume().write(OPENED)
    }
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await waitFor(() => sizes().every((size) => size === 0), { what: 'the streams to end on the links' })
  })

  async function open(port = gateway.port): Promise<Socket> {
    const handshake = request({ port, path: `/v0?api_key=${key}`, headers: HANDSHAKE }).end()
    const { promise, resolve } = Promise.withResolvers<Socket>()
    handshake.once('upgrade', (_answer, socket) => resolve(socket))
    const socket = await promise
    sockets.push(socket.on('error', () => {}))
    return socket
  }

  /** Opens streams one after another. @returns each with its end at the stream service. */
  async function openSome(count: number): Promise<[Socket, Duplex][]> {
    const streams: [Socket, Duplex][] = []
    for (let opened = 0; opened < count; opened++) {
      const socket = await open()
      const end = inner.at(-1)
      if (end === undefined) throw new Error('no handshake arrived')
      streams.push([socket, end])
    }
    return streams
  }

  const sizes = () => Array.from(gateway.behind.streamLinks, ({ size }) => size).sort()
  const allLinks = () => waitFor(() => gateway.behind.streamLinks.size === LINKS, { what: 'all links to be open' })

  async function passesBytes([socket, end]: readonly [Socket, Duplex]): Promise<void> {
    const [there, back] = [once(end, 'data'), once(socket, 'data')]
    socket.write('there')
    end.write('back')
    expect([String((await there)[0]), String((await back)[0])]).toEqual(['there', 'back'])
  }

  it('are a few for many streams, which are spread over them', async () => {
    await openSome(2 * LINKS)
    expect(sizes()).toEqual(Array(LINKS).fill(2))
  })

  it('take only their own streams along when they break, and are replaced', async () => {
    const streams = await openSome(LINKS)
    const [broken] = gateway.behind.streamLinks
    const ended = Promise.race(streams.map(([socket]) => once(socket.resume(), 'close')))
    broken?.close()
    await ended
    const left = streams.filter(([socket]) => !socket.destroyed)
    expect(left).toHaveLength(LINKS - 1)
    for (const stream of left) await passesBytes(stream)
    for (const stream of await openSome(2)) await passesBytes(stream)
    await allLinks()
  })

  it('take no new streams when the other end is leaving, and close after their last', async () => {
    const streams = await openSome(LINKS)
    const leaving = [...gateway.behind.streamLinks]
    for (const link of leaving) link.leave()
    for (const stream of streams) await passesBytes(stream)
    const later = await openSome(2)
    expect(leaving.map(({ size }) => size)).toEqual(Array(LINKS).fill(1))
    for (const stream of [...streams, ...later]) await passesBytes(stream)
    for (const [socket] of streams) socket.destroy()
    await waitFor(() => leaving.every((link) => !gateway.behind.streamLinks.has(link)), { what: 'the links to close' })
    for (const stream of later) await passesBytes(stream)
  })

  it('hold back a client that sends more than is read, and no other', async () => {
    const streams = await openSome(LINKS + 1)
    const [first, last] = [streams[0], streams[LINKS]]
    if (first === undefined || last === undefined) throw new Error('streams are missing')
    const [socket, end] = first
    end.pause()
    socket.write(Buffer.alloc(32 * 1024 * 1024))
    // The handshake is a part of what is not acknowledged yet.
    await waitFor(() => end.readableLength > CHANNEL_WINDOW - 2_000, { what: 'a window of bytes' })
    await passesBytes(last)
    expect(end.readableLength).toBeLessThan(CHANNEL_WINDOW)
    expect(socket.writableLength).toBeGreaterThan(0)
    end.resume()
  })

  it('are not needed: a stream service of the release before is reached without them', async () => {
    gateway.behind.hasLinks = false
    const apart = await gateway.another()
    const before = gateway.behind.streamLinks.size
    const socket = await open(apart.port)
    const [end] = inner
    if (end === undefined) throw new Error('no handshake arrived')
    await passesBytes([socket, end])
    expect(gateway.behind.streamLinks.size).toBe(before)
    gateway.behind.upgrade = (_request, refused) => {
      refused.end('HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    }
    const [answer] = await once(
      request({ port: apart.port, path: `/v0?api_key=${key}`, headers: HANDSHAKE }).end(),
      'response',
    )
    expect(answer.statusCode).toBe(429)
    gateway.behind.hasLinks = true
  })
})
