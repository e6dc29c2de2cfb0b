import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import { register } from 'prom-client'
import { DRAIN_BATCH } from '../../src/edge/stream-upgrade.ts'
import { callerOf } from '../fake-upstreams.ts'
import { CALLER_KEY, startGateway, type TestGateway } from '../gateway.ts'

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

const HOLD_KEYS = sql('lock table credentials in access exclusive mode')
const WAITING = sql<object>(`select from pg_locks where not granted and relation = 'credentials'::regclass`)

interface Opened {
  readonly status: number
  readonly body: string
  readonly headers: IncomingMessage['headers']
  readonly socket?: Socket
}

describe('the WebSocket upgrade', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let handshakes: IncomingMessage[]

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  beforeEach(() => {
    handshakes = []
    gateway.behind.upgrade = (incoming, socket) => {
      handshakes.push(incoming)
      socket.on('error', () => socket.destroy())
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Own: yes\r\n\r\nhello',
      )
      socket.pipe(socket)
    }
  })

  function open(target: string, headers: Record<string, string> = {}, port = gateway.port): Promise<Opened> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ port, path: target, headers: { ...HANDSHAKE, ...headers } })
      outgoing.once('error', reject)
      outgoing.once('response', async (answer) => {
        resolve({ status: answer.statusCode ?? 0, body: await text(answer), headers: answer.headers })
      })
      outgoing.once('upgrade', (answer, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ status: answer.statusCode ?? 0, body: '', headers: answer.headers, socket })
      })
      outgoing.end()
    })
  }

  async function received(socket: Socket | undefined, expected: string): Promise<void> {
    let all = ''
    socket?.on('data', (chunk) => {
      all += chunk
    })
    await waitFor(() => all === expected, { what: `"${expected}" on the socket` })
  }

  it('passes bytes both ways, including the first ones', async () => {
    const { status, headers, socket } = await open(`/v0?api_key=${organization.key}`)
    expect([status, headers['x-own']]).toEqual([101, 'yes'])
    socket?.write('ping')
    await received(socket, 'helloping')
    socket?.destroy()
  })

  it.each([
    ['the query', () => `/v0?api_key=${organization.key}`, () => ({})],
    ['its other name', () => `/v0?auth_token=${organization.key}`, () => ({})],
    ['the header', () => '/v0/', () => ({ authorization: `Bearer ${organization.key}` })],
    ['both; the header wins', () => '/v0?api_key=am_us_wrong', () => ({ authorization: `Bearer ${organization.key}` })],
  ])('takes the key from %s, and passes on a token instead of it', async (_case, target, headers) => {
    const requestId = randomUUID()
    const { status, socket } = await open(target(), { ...headers(), 'x-request-id': requestId })
    expect(status).toBe(101)
    const [handshake] = handshakes
    if (handshake === undefined) throw new Error('no handshake arrived')
    expect(JSON.stringify([handshake.url, handshake.rawHeaders])).not.toContain(organization.key)
    expect(handshake.headers).toMatchObject({
      'x-request-id': requestId,
      'sec-websocket-key': HANDSHAKE['sec-websocket-key'],
    })
    expect(await callerOf(handshake, 'stream.connect', CALLER_KEY)).toMatchObject({ organization_id: organization.id })
    socket?.destroy()
  })

  it('gives two sockets with the same request id different ones', async () => {
    const streams = []
    for (let index = 0; index < 2; index++) {
      streams.push(await open(`/v0?api_key=${organization.key}`, { 'x-request-id': 'of-both' }))
    }
    const names = handshakes.map(({ headers }) => headers['x-request-id'])
    expect(names[0]).toBe('of-both')
    expect(new Set(names).size).toBe(2)
    for (const { socket } of streams) socket?.destroy()
  })

  it('passes on the inbox of an inbox key', async () => {
    await organization.api.post('/v0/inboxes', { username: 'listener' })
    const bound = { organizationId: organization.id, inbox: 'listener@restante.test', permissions: [] }
    const { secret } = await gateway.operator.createKey(bound)
    const { socket } = await open(`/v0?api_key=${secret}`)
    const [handshake] = handshakes
    expect(handshake && (await callerOf(handshake, 'stream.connect', CALLER_KEY))).toMatchObject({
      inbox: { address: 'listener@restante.test' },
    })
    socket?.destroy()
  })

  it.each([
    ['no key', '/v0'],
    ['an unknown key', `/v0?api_key=am_us_${'1'.repeat(64)}`],
    ['a session token', '/v0?api_key=aaa.bbb.ccc'],
  ])('403 with a bare body for %s', async (_case, target) => {
    const { status, body, headers } = await open(target)
    expect([status, body]).toEqual([403, '{"message":"Forbidden"}'])
    expect(headers['content-type']).toContain('application/json')
    expect(handshakes).toHaveLength(0)
  })

  it('403 for a key that waits for its code', async () => {
    const body = { username: 'waiting', human_email: 'waiting@people.test' }
    const first = await gateway.as().post('/v0/agent/sign-up', body)
    gateway.behind.received.add(String(first.body['organization_id']))
    const second = await gateway.as().post('/v0/agent/sign-up', body)
    expect((await open(`/v0?api_key=${second.body['api_key']}`)).status).toBe(403)
  })

  it('404 for an upgrade elsewhere', async () => {
    expect((await open(`/v0/inboxes?api_key=${organization.key}`)).status).toBe(404)
  })

  it('passes on the refusal of the stream service', async () => {
    gateway.behind.upgrade = (_request, socket) => {
      socket.end('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
    }
    const { status, headers, body } = await open(`/v0?api_key=${organization.key}`)
    expect([status, headers['retry-after'], body]).toEqual([429, '5', '{}'])
  })

  it('counts requests for a stream by the status that the client gets', async () => {
    const counted = async () => {
      const { values = [] } = (await register.getSingleMetric('restante_gateway_stream_handshakes_total')?.get()) ?? {}
      return [101, 403, 429].map((status) => values.find(({ labels }) => labels['status'] === status)?.value ?? 0)
    }
    const before = await counted()
    const { socket } = await open(`/v0?api_key=${organization.key}`)
    socket?.destroy()
    await open('/v0')
    gateway.behind.upgrade = (_request, inner) => {
      inner.end('HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    }
    await open(`/v0?api_key=${organization.key}`)
    expect(await counted()).toEqual(before.map((count) => count + 1))
  })

  it('opens nothing for a client that has reset its connection while its key was looked up', async () => {
    const { secret } = await gateway.operator.createKey({ organizationId: organization.id, permissions: [] })
    const lines = Object.entries({ host: 'gateway.test', ...HANDSHAKE }).map(([name, value]) => `${name}: ${value}`)
    const client = connect(gateway.port)
    await gateway.db.transaction(async (tx) => {
      await tx.query(HOLD_KEYS)
      client.write(`GET /v0?api_key=${secret} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      await waitFor(async () => (await gateway.db.query(WAITING)).length > 0, { what: 'the key to be looked up' })
      client.resetAndDestroy()
      await once(client, 'close')
    })
    // It is answered after the one before it.
    const { socket } = await open(`/v0?api_key=${organization.key}`)
    expect(handshakes).toHaveLength(1)
    socket?.destroy()
    const streams = async () => (await register.getSingleMetric('restante_gateway_streams')?.get())?.values[0]?.value
    await waitFor(async () => (await streams()) === 0, { what: 'no stream to be counted' })
  })

  it('ends both sides when either ends', async () => {
    const inner: Duplex[] = []
    const { upgrade } = gateway.behind
    gateway.behind.upgrade = (incoming, socket, head) => {
      inner.push(socket)
      upgrade(incoming, socket, head)
    }
    const first = await open(`/v0?api_key=${organization.key}`)
    first.socket?.destroy()
    await waitFor(() => inner[0]?.destroyed, { what: 'the inner socket to end' })
    const second = await open(`/v0?api_key=${organization.key}`)
    const ended = second.socket && once(second.socket.resume(), 'close')
    inner[1]?.destroy()
    await ended
  })

  it('names its streams to the stream service on shutdown, and waits for them to be closed', async () => {
    const leaving = await gateway.another()
    const { socket } = await open(`/v0?api_key=${organization.key}`, { 'x-request-id': 'leaving-1' }, leaving.port)
    socket?.resume()
    const stopped = leaving.service.stop()
    await waitFor(() => gateway.behind.drained.some((ids) => ids.includes('leaving-1')), { what: 'the announcement' })
    expect(socket?.destroyed).toBe(false)
    socket?.destroy()
    await stopped
  })

  it('sends ids of streams in batches that fit into a body, however long the ids of clients are', () => {
    const request_ids = Array(DRAIN_BATCH).fill('\\'.repeat(128))
    expect(JSON.stringify({ request_ids, over_ms: 20_000 }).length).toBeLessThan(LIMITS.request.body)
  })
})
