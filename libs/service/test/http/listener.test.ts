import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { operations } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ApiError } from '../../src/errors/api-error.ts'
import { UpstreamError } from '../../src/errors/index.ts'
import {
  answer,
  type Exchange,
  HttpListener,
  type ListenerOptions,
  RawHttpError,
  sendJson,
} from '../../src/http/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'

const HEALTHY = { problems: async () => ({}), degradations: async () => ({}) }

const log = createLogger({ service: 'test', level: 'silent' })
const answerHello = async ({ response }: Exchange) => sendJson(response, 200, { hello: 'world' })

async function listen(options: Partial<ListenerOptions> = {}): Promise<{ listener: HttpListener; origin: string }> {
  const listener = new HttpListener({
    port: 0,
    host: '127.0.0.1',
    log,
    docsUrl: 'https://docs.example',
    health: HEALTHY,
    handle: answerHello,
    ...options,
  })
  await listener.start()
  running.push(listener)
  return { listener, origin: `http://127.0.0.1:${listener.port}` }
}

const running: HttpListener[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((listener) => listener.stop().catch(() => {})))
})

/** A connection on which a test writes HTTP by hand. */
async function open(listener: HttpListener, text: string): Promise<Socket> {
  const socket = connect(listener.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('HttpListener answers', () => {
  it('readiness with the reasons of the components that are not ready', async () => {
    const { origin } = await listen({ health: { ...HEALTHY, problems: async () => ({ database: 'gone' }) } })
    const response = await fetch(`${origin}/readyz`)
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({ status: 'not ready', problems: { database: 'gone' } })
    expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  })

  it('readiness without the reasons, on a public edge', async () => {
    const problems = async () => ({ database: 'connect ECONNREFUSED 10.0.0.7:5432' })
    const { origin } = await listen({ audience: 'public', health: { problems, degradations: problems } })
    const told = { database: 'see the log' }
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({
      status: 'not ready',
      problems: told,
      degraded: told,
    })
  })

  it('metrics to operators only: neither to the public nor to other services', async () => {
    const { origin } = await listen({ audience: 'operators' })
    await fetch(`${origin}/x`)
    expect(await (await fetch(`${origin}/metrics`)).text()).toContain('restante_http_requests_total')
    for (const audience of ['public', 'services'] as const) {
      const other = await listen({ audience })
      expect(await (await fetch(`${other.origin}/metrics`)).json()).toEqual({ hello: 'world' })
    }
  })

  it('HEAD as GET without a body', async () => {
    const { origin } = await listen()
    const response = await fetch(`${origin}/x`, { method: 'HEAD' })
    expect(response.headers.get('content-length')).toBe('17')
    expect(await response.text()).toBe('')
  })

  it("with a request id: the client's when it is valid, otherwise a new one", async () => {
    const { origin } = await listen()
    const idFor = async (given: string) =>
      (await fetch(origin, { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    expect(await idFor('abc-1')).toBe('abc-1')
    expect(await idFor('a'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idFor('two words')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('with a request id on every kind of response: probes, refusals by header, upgraded sockets', async () => {
    const { listener } = await listen({ upgrade: () => {} })
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost: other'
    for (const [start, more] of [
      ['GET /healthz', 'Connection: close'],
      ['GET /readyz', 'Connection: close'],
      ['GET /metrics', 'Connection: close'],
      ['GET /x', 'Expect: 200-ok\r\nConnection: close'],
      ['GET /x', upgrade],
      ['CONNECT edge:80', 'Connection: close'],
    ]) {
      const socket = await open(listener, `${start} HTTP/1.1\r\nHost: edge\r\nX-Request-Id: mine\r\n${more}\r\n\r\n`)
      expect([start, (await text(socket)).toLowerCase()]).toEqual([
        start,
        expect.stringContaining('x-request-id: mine'),
      ])
    }
  })

  it('errors with the envelope, and never the internal cause', async () => {
    const errors: Record<string, Error> = {
      '/refused': new ApiError('conflict', { message: 'Taken', fix: 'Choose another', retryAfter: 3 }),
      '/large': new RawHttpError(413, 'Request Too Long'),
      '/peer': new UpstreamError('the secret host did not answer'),
      '/defect': new TypeError('secret detail'),
    }
    const { origin } = await listen({
      handle: async ({ path }) => {
        throw errors[path] ?? new Error('no such path')
      },
    })
    const refused = await fetch(`${origin}/refused`)
    expect(refused.status).toBe(409)
    expect(refused.headers.get('retry-after')).toBe('3')
    expect(await refused.json()).toEqual({
      name: 'ConflictError',
      code: 'conflict',
      message: 'Taken',
      fix: 'Choose another',
      docs: 'https://docs.example/errors#conflict',
    })
    const large = await fetch(`${origin}/large`)
    expect([large.status, await large.json()]).toEqual([413, { message: 'Request Too Long' }])
    const peer = await fetch(`${origin}/peer`)
    expect([peer.status, peer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await peer.text()).not.toContain('secret')
    const defect = await fetch(`${origin}/defect`)
    expect(defect.status).toBe(500)
    expect(await defect.text()).not.toContain('secret')
  })

  it('a path that cannot be decoded like any unknown path', async () => {
    const { origin } = await listen()
    expect((await fetch(`${origin}/%E0%A4%A`)).status).toBe(200)
  })

  it('431 to a header block above its limit, which leaves room for headers that the edge adds', async () => {
    const headers = { 'x-long': 'a'.repeat(33 * 1024) }
    const edge = await listen({ headerBytes: LIMITS.request.headers })
    const refused = await fetch(edge.origin, { headers })
    expect([refused.status, await refused.json()]).toEqual([431, { message: 'Request Header Fields Too Large' }])
    expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const behind = await listen()
    expect((await fetch(behind.origin, { headers })).status).toBe(200)
    expect((await fetch(behind.origin, { headers: { 'x-long': 'a'.repeat(49 * 1024) } })).status).toBe(431)
  })

  it('with the client address that the edge names, whatever another header says', async () => {
    const peers: unknown[] = []
    const handler = async ({ peer }: Record<string, unknown>) => void peers.push(peer)
    const operation = { ...operations['auth.me'], response: undefined }
    const edge = await listen({ handle: (exchange) => answer(operation, handler, exchange, {}, { peer: 'socket' }) })
    const behind = await listen({ handle: (exchange) => answer(operation, handler, exchange, {}, {}) })
    for (const { origin } of [edge, behind]) await fetch(origin, { headers: { 'x-restante-peer': 'header' } })
    expect(peers).toEqual(['socket', 'header'])
  })
})

describe('HttpListener and a client that disconnects', () => {
  it('aborts the signal of a request whose client has disconnected, and of no other', async () => {
    const signals: AbortSignal[] = []
    const entered = Promise.withResolvers<void>()
    const { listener, origin } = await listen({
      handle: async (exchange) => {
        signals.push(exchange.signal)
        if (exchange.path === '/quick') return answerHello(exchange)
        entered.resolve()
        await once(exchange.signal, 'abort')
        throw exchange.signal.reason
      },
    })
    await (await fetch(`${origin}/quick`)).json()
    const socket = await open(listener, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
    await entered.promise
    socket.destroy()
    const [quick, slow] = signals
    if (slow && !slow.aborted) await once(slow, 'abort')
    expect(quick?.aborted).toBe(false)
    expect((await fetch(`${origin}/quick`)).status).toBe(200)
  })
})

describe('HttpListener.stop', () => {
  it('lets a running request finish and closes its kept-alive connection after it', async () => {
    const entered = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const { listener } = await listen({
      handle: async (exchange) => {
        entered.resolve()
        await release.promise
        await answerHello(exchange)
      },
    })
    const agent = new Agent({ keepAlive: true })
    const answered = new Promise<IncomingMessage>((resolve) => {
      get({ port: listener.port, agent }, resolve)
    })
    await entered.promise
    const stopped = listener.stop()
    release.resolve()
    const response = await answered
    expect(response.headers['connection']).toBe('close')
    expect(JSON.parse(await textOf(response))).toEqual({ hello: 'world' })
    await stopped
    agent.destroy()
  })

  it('closes idle connections and accepts no new ones', async () => {
    const { listener, origin } = await listen()
    const agent = new Agent({ keepAlive: true })
    const first = await new Promise<IncomingMessage>((resolve) => get({ port: listener.port, agent }, resolve))
    await textOf(first)
    await listener.stop()
    await expect(fetch(origin)).rejects.toThrow('fetch failed')
    agent.destroy()
  })

  it('does not wait for clients that never end their request', async () => {
    const { listener } = await listen({
      drainMs: 200,
      handle: () => new Promise<void>(() => {}),
      upgrade: (_request, socket) => socket.on('error', () => {}),
    })
    const inHead = await open(listener, 'GET / HTTP/1.1\r\nhost: x\r\n')
    const inBody = await open(listener, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf')
    const inUpgrade = await open(listener, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    const sockets = [inHead, inBody, inUpgrade]
    const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
    const begun = performance.now()
    await listener.stop()
    await closed
    // Without a limit of its own, a drain would take 10 s.
    expect(performance.now() - begun).toBeLessThan(8_000)
  })
})
