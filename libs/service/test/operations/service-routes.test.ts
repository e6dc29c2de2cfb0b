import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Caller } from '@restante/contracts/access'
import type { Webhook } from '@restante/contracts/resources'
import { ApiError, isInfrastructureError, UpstreamError } from '../../src/errors/index.ts'
import {
  type ConfirmCaller,
  type Handlers,
  HttpListener,
  ServiceClient,
  StreamedJson,
  serviceRoutes,
  UpstreamRejectedError,
} from '../../src/http/index.ts'
import { CALLER_HEADER, TokenMint } from '../../src/identity/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'

const HEALTHY = { problems: async () => ({}), degradations: async () => ({}) }

const CALLER_KEY = 'key between gateway and service'
const PEER_KEY = 'key that the two services share'
const log = createLogger({ service: 'test', level: 'silent' })
const caller: Caller = {
  organization_id: randomUUID(),
  credential: { id: randomUUID(), type: 'bearer', tier: 'organization', app_connect: false, provisional: false },
  sending: 'ok',
  unverified: false,
}
const webhook: Webhook = {
  webhook_id: `ep_${'a'.repeat(27)}`,
  url: 'https://receiver.example/',
  secret: 'whsec_x',
  enabled: true,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
const delivery = {
  delivery_id: `msg_${'0'.repeat(27)}`,
  webhook_id: webhook.webhook_id,
  event_id: crypto.randomUUID(),
  event_type: 'message.sent',
  state: 'retrying' as const,
  attempts: [],
  created_at: webhook.created_at,
}
const handlers: Handlers<'webhooks-dispatcher'> = {
  'webhooks.create': async ({ body }) => ({ ...webhook, url: body.url }),
  'webhooks.list': async ({ query }) => ({
    count: 0,
    webhooks: [],
    ...(query.limit !== undefined && { limit: query.limit }),
  }),
  'webhooks.get': async ({ params }) => ({ ...webhook, client_id: params.webhook_id }),
  'webhooks.update': async ({ params }) => ({ ...webhook, client_id: params.webhook_id }),
  'webhooks.delete': async () => undefined,
  'webhooks.test': async () => ({ delivery_id: `msg_${'0'.repeat(27)}`, event_id: crypto.randomUUID() }),
  'webhooks.listDeliveries': async ({ params }) => new StreamedJson(parts(params.webhook_id)),
  'webhooks.retryDelivery': async () => delivery,
  'webhooks.getHeaders': async () => ({ header_names: [] }),
  'webhooks.updateHeaders': async () => undefined,
}

/** An answer in parts, which fails where the id says so. */
async function* parts(id: string): AsyncGenerator<string> {
  if (id === 'fails-at-once') throw new ApiError('not_found')
  yield '{"count":1,'
  if (id === 'fails-later') throw new Error('the database is gone')
  yield `"deliveries":[${JSON.stringify(delivery)}]}`
}

const internal = {
  'webhooks-dispatcher.purgeInbox': async () => ({ purged: true }),
  'webhooks-dispatcher.endWebhooks': async () => ({}),
  'webhooks-dispatcher.check': async () => ({ examined: 0, findings: [] }),
  'webhooks-dispatcher.listInboxes': async () => ({ inboxes: [] }),
  'webhooks-dispatcher.listLog': async () => ({}),
  'webhooks-dispatcher.replayDelivery': async () => ({ delivery }),
  'webhooks-dispatcher.replayRange': async () => ({ batch: { scanned: 0, matched: 0, queued: 0, pending: 0 } }),
}

/** Asked for what arrives late, which on a busy machine may be any request. */
const confirm: ConfirmCaller = async (_operation, caller) => caller

describe('the operations of a service', () => {
  let listener: HttpListener
  beforeAll(async () => {
    listener = new HttpListener({
      port: 0,
      host: '127.0.0.1',
      log,
      docsUrl: 'https://docs.example',
      health: HEALTHY,
      handle: serviceRoutes({
        service: 'webhooks-dispatcher',
        handlers,
        internal,
        callerKey: CALLER_KEY,
        confirm,
        peerKeys: {},
      }),
    })
    await listener.start()
  })
  afterAll(() => listener.stop())

  async function request(operation: string, method: string, path: string, body?: string): Promise<Response> {
    const token = await new TokenMint('webhooks-dispatcher', CALLER_KEY).caller(operation, caller)
    return fetch(`http://127.0.0.1:${listener.port}${path}`, {
      method,
      headers: { [CALLER_HEADER]: token },
      ...(body !== undefined && { body }),
    })
  }

  it('answer 401 without a token, and with the token of another operation', async () => {
    const bare = await fetch(`http://127.0.0.1:${listener.port}/webhooks`)
    expect(bare.status).toBe(401)
    expect(await bare.json()).toMatchObject({ code: 'unauthorized' })
    expect((await request('webhooks.get', 'GET', '/webhooks')).status).toBe(401)
  })

  it('accept a token that is bound to a body with that body alone', async () => {
    const body = JSON.stringify({ url: 'https://receiver.example/', event_types: ['message.received'] })
    const token = new TokenMint('webhooks-dispatcher', CALLER_KEY).caller('webhooks.create', caller, Buffer.from(body))
    const post = (sent: string) =>
      fetch(`http://127.0.0.1:${listener.port}/webhooks`, {
        method: 'POST',
        headers: { [CALLER_HEADER]: token },
        body: sent,
      })
    expect((await post(body)).status).toBe(200)
    for (const other of [`${body} `, body.replace('receiver', 'attacker'), '']) {
      const refused = await post(other)
      expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'unauthorized' }])
    }
  })

  it('answer with no-store, and HEAD like GET', async () => {
    const answered = await request('webhooks.list', 'GET', '/webhooks?limit=7')
    expect(answered.headers.get('cache-control')).toBe('no-store')
    expect(await answered.json()).toEqual({ count: 0, webhooks: [], limit: 7 })
    expect((await request('webhooks.list', 'HEAD', '/webhooks')).status).toBe(200)
  })

  it('answer part by part, and like any other when that fails before the first part', async () => {
    const list = (id: string) => request('webhooks.listDeliveries', 'GET', `/webhooks/${id}/deliveries`)
    const answered = await list('ep_1')
    expect(answered.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answered.headers.get('cache-control')).toBe('no-store')
    expect([answered.status, await answered.json()]).toEqual([200, { count: 1, deliveries: [delivery] }])
    expect((await list('fails-at-once')).status).toBe(404)
    await expect(list('fails-later').then((cut) => cut.text())).rejects.toThrow()
  })

  it('answer 204 without a body to a void operation', async () => {
    const answered = await request('webhooks.delete', 'DELETE', '/webhooks/ep_1')
    expect([answered.status, await answered.text()]).toEqual([204, ''])
  })

  it('decode a path value after splitting the path', async () => {
    const answered = await request('webhooks.get', 'GET', '/webhooks/a%2Fb')
    expect(await answered.json()).toMatchObject({ client_id: 'a/b' })
  })

  it('report every fault of a request at once, each at its path', async () => {
    const answered = await request(
      'webhooks.create',
      'POST',
      '/webhooks',
      JSON.stringify({ url: 7, event_types: ['x'] }),
    )
    expect(answered.status).toBe(400)
    const { errors } = (await answered.json()) as { errors: { path: unknown[] }[] }
    expect(errors.map(({ path }) => path)).toEqual(expect.arrayContaining([['url'], ['event_types', 0]]))
  })

  it.each(['{', '[]', '"x"', 'null'])('answer 400 SyntaxError to the body %s', async (body) => {
    const answered = await request('webhooks.create', 'POST', '/webhooks', body)
    expect(answered.status).toBe(400)
    expect(await answered.json()).toMatchObject({
      name: 'SyntaxError',
      code: 'validation_error',
      errors: [{ path: [] }],
    })
  })

  it('answer 413 to a body above the limit', async () => {
    const answered = await request('webhooks.create', 'POST', '/webhooks', 'x'.repeat(1024 * 1024 + 1))
    expect(answered.status).toBe(413)
    expect(await answered.json()).toMatchObject({ code: 'payload_too_large' })
  })

  it('do not start with a handler missing', () => {
    const { 'webhooks.get': _left, ...fewer } = handlers
    const incomplete: object = fewer
    expect(() =>
      serviceRoutes({
        service: 'webhooks-dispatcher',
        handlers: incomplete as Handlers<'webhooks-dispatcher'>,
        internal,
        callerKey: CALLER_KEY,
        confirm,
        peerKeys: {},
      }),
    ).toThrow('missing: webhooks.get')
  })
})

describe('ServiceClient', () => {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  function clientOf(url: string, key = PEER_KEY): ServiceClient<'gateway'> {
    const client = new ServiceClient({ from: 'gateway', to: 'websocket-fanout', url, key })
    closers.push(() => client.stop())
    return client
  }

  /** A service with the real routes and this handler. */
  async function peer(handle: () => Promise<Record<string, never>>): Promise<string> {
    const listener = new HttpListener({
      port: 0,
      host: '127.0.0.1',
      log,
      docsUrl: 'https://docs.example',
      health: HEALTHY,
      handle: serviceRoutes({
        service: 'websocket-fanout',
        handlers: { 'stream.poll': async () => ({ events: [], cursor: 'next' }) },
        internal: { 'websocket-fanout.drainConnections': handle, 'websocket-fanout.endStreams': handle },
        callerKey: CALLER_KEY,
        confirm,
        peerKeys: { gateway: PEER_KEY },
      }),
    })
    await listener.start()
    closers.push(() => listener.stop())
    return `http://127.0.0.1:${listener.port}`
  }

  /** An intermediary that answers by itself. */
  async function proxy(status: number, body: string): Promise<string> {
    const server: Server = createServer((_request, response) => void response.writeHead(status).end(body))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(async () => void server.close())
    const address = server.address() as AddressInfo
    return `http://127.0.0.1:${address.port}`
  }

  const call = (client: ServiceClient<'gateway'>, timeoutMs?: number) =>
    client
      .call('websocket-fanout.drainConnections', { request_ids: ['a'], over_ms: 0 }, timeoutMs)
      .catch((error: unknown) => error)

  it('returns the typed response of the other service', async () => {
    expect(await call(clientOf(await peer(async () => ({}))))).toEqual({})
  })

  it('is rejected permanently with a key that the other service does not share', async () => {
    const error = await call(clientOf(await peer(async () => ({})), 'some other key of 32 bytes'))
    expect(error).toMatchObject({ name: 'UpstreamRejectedError', status: 401, code: 'unauthorized' })
    expect(isInfrastructureError(error)).toBe(false)
  })

  it('treats a 4xx of the other service as final', async () => {
    const url = await peer(async () => {
      throw new ApiError('conflict')
    })
    expect(await call(clientOf(url))).toEqual(
      new UpstreamRejectedError('websocket-fanout.drainConnections', 409, 'conflict'),
    )
  })

  it('treats a 5xx, silence and absence of the other service as infrastructure failures', async () => {
    const faulty = await peer(async () => {
      throw new TypeError('defect')
    })
    const silent = await peer(() => new Promise(() => {}))
    const errors = [
      await call(clientOf(faulty)),
      await call(clientOf(silent), 100),
      await call(clientOf('http://127.0.0.1:9')),
    ]
    for (const error of errors) {
      expect(error).toBeInstanceOf(UpstreamError)
      expect(isInfrastructureError(error)).toBe(true)
    }
  })

  it.each([
    [502, '<html>', true],
    [429, '{}', true],
    [408, '', true],
    [200, '<html>', true],
    [404, '<html>', false],
  ])('classes %d %j of an intermediary: infrastructure %s', async (status, body, infrastructure) => {
    expect(isInfrastructureError(await call(clientOf(await proxy(status, body))))).toBe(infrastructure)
  })
})
