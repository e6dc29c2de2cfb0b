import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Wire } from '@restante/service/testing'
import { StreamClient, waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { startGateway, type TestGateway } from '../../gateway.ts'

/** How long the public TypeScript client waits for an answer. */
const CLIENT_PATIENCE_MS = 4_000
/** For the gateway that stands in front of nothing. */
const NOWHERE = { WEBSOCKET_FANOUT_URL: 'http://127.0.0.1:9' }
const UNAVAILABLE = { code: 1013, reason: 'Service temporarily unavailable' }
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
const VERSION = 'Sec-WebSocket-Version: 13'
/** The beginning of a masked binary frame of nearly 2^63 bytes. */
const ENDLESS_FRAME = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3, 4])

describe('a stream that cannot be opened for a while', () => {
  let gateway: TestGateway
  let lonely: { port: number }
  let key: string

  beforeAll(async () => {
    gateway = await startGateway()
    lonely = await gateway.another(NOWHERE)
    key = (await gateway.organization()).key
  })
  afterAll(() => gateway.stop())

  /** How the stream of a client ends. A refused handshake rejects. */
  async function ending({ port }: { port: number }, apiKey = key) {
    const stream = await StreamClient.open(`ws://127.0.0.1:${port}/v0?api_key=${apiKey}`)
    await stream.ended()
    return stream.closed
  }

  /** Sends a handshake whose client leaves the rest to the test. */
  function handshake(...headers: string[]): Socket {
    const socket = connect({ port: lonely.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    const start = [`GET /v0?api_key=${key} HTTP/1.1`, 'Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket']
    socket.write(`${[...start, ...headers].join('\r\n')}\r\n\r\n`)
    return socket
  }

  it('is opened and closed with 1013 when the stream service cannot be reached', async () => {
    expect(await ending(lonely)).toEqual(UNAVAILABLE)
  })

  it.each([500, 502, 503, 504])('is closed with 1013 when the stream service answers %i', async (status) => {
    gateway.behind.upgrade = (_request, socket) => {
      socket.end(`HTTP/1.1 ${status} Failed\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`)
    }
    expect(await ending(gateway)).toEqual(UNAVAILABLE)
  })

  it('is closed with 1013 before its client loses patience when the stream service does not answer', async () => {
    const held: Duplex[] = []
    gateway.behind.upgrade = (_request, socket) => void held.push(socket.on('error', () => {}))
    const begun = performance.now()
    expect(await ending(gateway)).toEqual(UNAVAILABLE)
    expect(performance.now() - begun).toBeLessThan(CLIENT_PATIENCE_MS)
    await waitFor(() => held[0]?.destroyed, { what: 'the request to the stream service to end' })
    held[0]?.destroy()
  })

  it('is closed with 1013 when the database refuses connections, and when it is frozen', async () => {
    const url = String(gateway.env['DATABASE_URL'])
    const wire = await Wire.to(url)
    const apart = await gateway.another({ DATABASE_URL: wire.through(url) })
    wire.cut()
    expect(await ending(apart)).toEqual(UNAVAILABLE)
    await wire.restore()
    wire.hold()
    const begun = performance.now()
    expect(await ending(apart)).toEqual(UNAVAILABLE)
    expect(performance.now() - begun).toBeLessThan(CLIENT_PATIENCE_MS)
    await wire.restore()
    await apart.service.stop()
    wire.cut()
  })

  it('is closed with 1013 while its key is beyond the rate', async () => {
    const strict = await gateway.another({
      ...NOWHERE,
      RATE_LIMIT_CREDENTIAL: '1/h',
      RATE_LIMIT_CREDENTIAL_BURST: '1',
    })
    const { key: busy } = await gateway.organization()
    expect(await ending(strict, busy)).toEqual(UNAVAILABLE)
    expect(await ending(strict, busy)).toEqual({
      code: 1013,
      reason: expect.stringMatching(/^Too many requests with this API key; try again in \d+ s$/),
    })
  })

  it('has the request id of its client in the answer', async () => {
    const socket = handshake(KEY, VERSION, 'X-Request-Id: postponed-1')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 101 .*\r\nX-Request-Id: postponed-1\r\n/s)
    socket.destroy()
  })

  it.each([
    ['without a key of the WebSocket', [VERSION]],
    ['of an unknown version', [KEY, 'Sec-WebSocket-Version: 7']],
  ])('is refused where the request is no WebSocket handshake: %s', async (_case, headers) => {
    const socket = handshake(...headers)
    expect(await text(socket)).toMatch(
      /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*\{"message":"Service temporarily unav/s,
    )
    socket.destroy()
  })

  it('is ended for clients that do not close their side, send what is no frame, or one that never ends', async () => {
    const ended = [Buffer.alloc(0), Buffer.from('GET / HTTP/1.1\r\n\r\n'), ENDLESS_FRAME].map(async (bytes) => {
      const socket = handshake(KEY, VERSION)
      socket.write(bytes)
      await once(socket.resume(), 'end')
      const cut = () => {
        socket.write('x')
        return socket.destroyed
      }
      await waitFor(cut, { what: 'the connection to be cut' })
    })
    await Promise.all(ended)
    expect(await ending(lonely)).toEqual(UNAVAILABLE)
  })

  it('counts by the status for which it was not opened', async () => {
    const counted = async () => {
      const { values = [] } = (await register.getSingleMetric('restante_gateway_stream_handshakes_total')?.get()) ?? {}
      return [101, 503].map((status) => values.find(({ labels }) => labels['status'] === status)?.value ?? 0)
    }
    const [opened = 0, unavailable = 0] = await counted()
    await ending(lonely)
    expect(await counted()).toEqual([opened, unavailable + 1])
  })
})
