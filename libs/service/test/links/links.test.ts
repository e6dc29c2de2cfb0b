import { once } from 'node:events'
import { request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { notFound, UpstreamError } from '../../src/errors/index.ts'
import { HttpListener, type ListenerOptions, type RequestedLink, sendJson } from '../../src/http/index.ts'
import { InvalidTokenError } from '../../src/identity/index.ts'
import { acceptLink, Link, requestLink, verifyLinkRequest } from '../../src/links/index.ts'
import { bareRecord, headOfData, LinkError, WINDOW } from '../../src/links/records.ts'
import { createLogger } from '../../src/telemetry/index.ts'

const NOTHING = Buffer.alloc(0)
const DOCUMENT = Buffer.alloc(2_000, 'x')

const open: Socket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

/** Both sides of a TCP connection. */
async function sockets(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  const near = connect(address.port, '127.0.0.1')
  const [far]: Socket[] = await once(server, 'connection')
  server.close()
  if (far === undefined) throw new Error('no connection')
  open.push(near, far)
  return [near, far]
}

/** Why a link is closed. */
class Closing {
  readonly reason: Promise<Error | undefined>
  readonly onClose: (reason: Error | undefined) => void

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Error | undefined>()
    this.reason = promise
    this.onClose = resolve
  }
}

/** A link between two sockets: one end opens channels, the other accepts them. */
class Pair {
  readonly closing = { near: new Closing(), far: new Closing() }
  readonly near: Link
  readonly far: Link
  readonly wire: Socket
  readonly #accepted: ((channel: Duplex) => void)[] = []

  constructor([near, far]: readonly [Socket, Socket]) {
    this.wire = near
    this.near = new Link({ socket: near, head: NOTHING, onClose: this.closing.near.onClose })
    const accept = (channel: Duplex) => this.#accepted.shift()?.(channel.on('error', () => {}))
    this.far = new Link({ socket: far, head: NOTHING, accept, onClose: this.closing.far.onClose })
  }

  /** Opens a channel. @returns its near and its far end. */
  async open(): Promise<[Duplex, Duplex]> {
    const { promise, resolve } = Promise.withResolvers<Duplex>()
    this.#accepted.push(resolve)
    return [this.near.open(), await promise]
  }

  static async open(): Promise<Pair> {
    return new Pair(await sockets())
  }
}

describe('channels of a link', () => {
  it('carry bytes in both directions, and end in each by itself', async () => {
    const [near, far] = await (await Pair.open()).open()
    near.write('question')
    expect(String((await once(far, 'data'))[0])).toBe('question')
    far.end('answer')
    expect(await text(near)).toBe('answer')
    expect(await text(far)).toBe('')
  })

  it('carry far more than a window, in pieces of any size', async () => {
    const [near, far] = await (await Pair.open()).open()
    const pieces = [1, WINDOW - 1, WINDOW, 3 * WINDOW + 7, 0, 12].map((length, index) => Buffer.alloc(length, index))
    for (const piece of pieces) far.write(piece)
    far.end()
    expect((await buffer(near)).equals(Buffer.concat(pieces))).toBe(true)
  })

  it('get what is written on all of them over the connection once', async () => {
    const pair = await Pair.open()
    const channels = []
    for (let count = 0; count < 100; count++) channels.push(await pair.open())
    const before = pair.wire.bytesRead
    for (const [, far] of channels) {
      far.cork()
      far.write(Buffer.from([0x81, 0x7e, 0x07, 0xd0]))
      far.write(DOCUMENT)
      far.uncork()
    }
    for (const [, far] of channels) far.end()
    for (const [near] of channels) expect((await buffer(near)).length).toBe(4 + DOCUMENT.length)
    expect(pair.wire.bytesRead - before).toBeLessThan(2 * DOCUMENT.length)
  })

  it('keep the order of what is for one and what is for all', async () => {
    const pair = await Pair.open()
    const channels = [await pair.open(), await pair.open(), await pair.open()]
    for (const round of ['1', '2', '3']) {
      for (const [index, [, far]] of channels.entries()) far.write(`own ${index} `)
      for (const [, far] of channels) far.write(`all ${round} `)
    }
    for (const [, far] of channels) far.end('over')
    const texts = await Promise.all(channels.map(([near]) => text(near)))
    expect(texts).toEqual(
      [0, 1, 2].map((index) => `${[1, 2, 3].map((round) => `own ${index} all ${round} `).join('')}over`),
    )
  })

  it('hold at most a window for a reader that is slow, while others get all of theirs', async () => {
    const pair = await Pair.open()
    const [slow, toSlow] = await pair.open()
    const [quick, toQuick] = await pair.open()
    for (let count = 0; count < 2_000; count++) {
      toSlow.write(DOCUMENT)
      toQuick.write(DOCUMENT)
    }
    toQuick.end()
    expect((await buffer(quick)).length).toBe(2_000 * DOCUMENT.length)
    expect(slow.readableLength).toBeLessThanOrEqual(WINDOW)
    expect(toSlow.writableLength).toBeGreaterThan(2_000 * DOCUMENT.length - WINDOW - DOCUMENT.length)
    toSlow.end()
    expect((await buffer(slow)).length).toBe(2_000 * DOCUMENT.length)
  })

  it('go on after any pause, however their reader takes what has waited', async () => {
    const pair = await Pair.open()
    const total = 5 * WINDOW
    for (const piece of [1_000, WINDOW / 4, WINDOW - 1, WINDOW]) {
      const [near, far] = await pair.open()
      for (let written = 0; written < total; written += piece) far.write(Buffer.alloc(Math.min(piece, total - written)))
      let read = 0
      const { promise: all, resolve } = Promise.withResolvers<void>()
      near.on('data', ({ length }: Buffer) => {
        read += length
        if (read === total) return resolve()
        near.pause()
        setImmediate(() => near.resume())
      })
      await all
    }
  })

  it('are closed together with the other end, and what is still on its way to them is dropped', async () => {
    const pair = await Pair.open()
    const [near, far] = await pair.open()
    const [witness, toWitness] = await pair.open()
    let failure: Error | null | undefined
    far.write(Buffer.alloc(2 * WINDOW), (error) => {
      failure = error
    })
    near.destroy()
    await once(far, 'close')
    expect(failure).toBeInstanceOf(Error)
    toWitness.resume().end('still here')
    expect(await text(witness)).toBe('still here')
    await once(toWitness, 'close')
    expect([pair.near.size, pair.far.size]).toEqual([0, 0])
  })

  it('are all closed when the connection breaks', async () => {
    const pair = await Pair.open()
    const ends = [...(await pair.open()), ...(await pair.open())]
    const closed = ends.map((end) => once(end, 'close'))
    pair.wire.resetAndDestroy()
    await Promise.all(closed)
    expect([pair.near.isOpen, pair.near.size, pair.far.size]).toEqual([false, 0, 0])
  })
})

describe('a link', () => {
  it('whose end leaves takes no more channels, and closes after the last', async () => {
    const pair = await Pair.open()
    const [near, far] = await pair.open()
    pair.far.leave()
    far.write('after leaving')
    await once(near, 'data')
    expect(pair.near.isOpen).toBe(false)
    near.destroy()
    expect(await Promise.all([pair.closing.near.reason, pair.closing.far.reason])).toEqual([undefined, undefined])
  })

  it('that is retired without channels closes at once', async () => {
    const pair = await Pair.open()
    pair.near.retire()
    expect(await pair.closing.far.reason).toBeUndefined()
  })

  it('stays while both ends show that they live, and is closed when the other end falls silent', async () => {
    const [near, far] = await sockets()
    const closing = new Closing()
    const link = new Link({ socket: near, head: NOTHING, pingMs: 20, onClose: closing.onClose })
    for (let count = 0; count < 6; count++) {
      await once(far, 'data')
      far.write(bareRecord('ping'))
    }
    expect(link.isOpen).toBe(true)
    expect(await closing.reason).toBeInstanceOf(LinkError)
  })

  const opened = bareRecord('open', 1)
  it.each([
    ['bytes that are no record', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['a channel that does not come next', [bareRecord('open', 2)]],
    ['a channel a second time', [opened, opened]],
    ['data for a channel that was never opened', [headOfData([1], 1), Buffer.from('x')]],
    ['an end of channel 0', [bareRecord('end', 0)]],
    ['credit for what was never sent', [opened, bareRecord('credit', 1, 1)]],
    ['data after the end', [opened, bareRecord('end', 1), headOfData([1], 1), Buffer.from('x')]],
    [
      'data beyond the window',
      [opened, headOfData([1], WINDOW), Buffer.alloc(WINDOW), headOfData([1], 1), Buffer.from('x')],
    ],
  ])('is closed at %s', async (_what, sent) => {
    const [near, far] = await sockets()
    const closing = new Closing()
    new Link({
      socket: far,
      head: NOTHING,
      accept: (channel) => channel.on('error', () => {}),
      onClose: closing.onClose,
    })
    near.on('error', () => {})
    for (const bytes of sent) near.write(bytes)
    expect(await closing.reason).toBeInstanceOf(LinkError)
  })

  it('that only opens channels is closed when one is opened at its other end', async () => {
    const pair = await Pair.open()
    pair.far.open()
    expect(await pair.closing.near.reason).toBeInstanceOf(LinkError)
  })
})

describe('a listener that takes links', () => {
  const OPTIONS = {
    port: 0,
    host: '127.0.0.1',
    log: createLogger({ service: 'test', level: 'silent' }),
    docsUrl: 'https://docs.example',
    health: { problems: async () => ({}), degradations: async () => ({}) },
  }
  const KEY = 'shared by the two services'
  const KEYS = { gateway: KEY }
  let listener: HttpListener
  let links: Link[]
  const refusals: unknown[] = []

  async function take({ request: { headers }, socket, head, serve }: RequestedLink): Promise<void> {
    try {
      await verifyLinkRequest(headers, KEYS, 'websocket-fanout')
      links.push(acceptLink({ socket, head, accept: serve, onClose: () => {} }))
    } catch (error) {
      refusals.push(error)
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    }
  }

  async function start(options: Partial<ListenerOptions> = {}): Promise<void> {
    links = []
    listener = new HttpListener({
      ...OPTIONS,
      handle: async ({ response }) => sendJson(response, 200, {}),
      upgrade: (_request, socket) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello'),
      link: (requested) => void take(requested),
      ...options,
    })
    await listener.start()
  }
  afterEach(async () => {
    for (const link of links) link.close()
    await listener.stop()
  })

  const ask = (key = KEY) =>
    requestLink({
      from: 'gateway',
      to: 'websocket-fanout',
      url: `http://127.0.0.1:${listener.port}`,
      key,
      timeoutMs: 2_000,
      onClose: () => {},
    })

  it('serves upgrades that come over them as those that come to its port', async () => {
    await start()
    const link = await ask()
    const headers = { host: 'x', connection: 'Upgrade', upgrade: 'websocket' }
    const [, socket, head] = await once(request({ headers, createConnection: () => link.open() }).end(), 'upgrade')
    expect(`${head}${await text(socket)}`).toBe('hello')
  })

  it('cuts a connection over them that brings another request, or a link', async () => {
    await start()
    const link = await ask()
    for (const headers of [{ host: 'x' }, { host: 'x', connection: 'Upgrade', upgrade: 'restante-link-1' }]) {
      const [error] = await once(request({ headers, createConnection: () => link.open() }).end(), 'error')
      expect(error).toMatchObject({ code: 'ECONNRESET' })
    }
    expect(link.isOpen).toBe(true)
  })

  it('refuses a link with the token of another key', async () => {
    await start()
    await expect(ask('another key')).rejects.toThrow(UpstreamError)
    expect(refusals.pop()).toBeInstanceOf(InvalidTokenError)
  })

  it('answers 404 to a request for a link where it takes none, like the last release', async () => {
    listener = new HttpListener({ ...OPTIONS, handle: async () => Promise.reject(notFound('Route')) })
    await listener.start()
    await expect(ask()).rejects.toMatchObject({ name: 'UpstreamError', cause: new Error('answered 404') })
  })

  it('counts connections over links among those that it may have', async () => {
    await start({ limits: { connections: 2 } })
    const link = await ask()
    const channels = [link.open(), link.open(), link.open()]
    for (const channel of channels) channel.on('error', () => {}).write('GET / HTTP/1.1\r\n')
    await once(channels[2] ?? link.open(), 'close')
    expect(channels.map(({ destroyed }) => destroyed)).toEqual([false, false, true])
  })
})
