import { randomBytes, randomUUID } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import { TokenMint } from '@restante/service/identity'
import { callerOf, GATEWAY_KEYS, receivedEvent, StreamClient, waitFor } from '@restante/testkit'
import { callerWith, startFanout, type Tenant, type TestFanout } from './fanout.ts'

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

function atGateway(query: string, headers: Record<string, string> = {}): Promise<StreamClient> {
  return StreamClient.open(`${fanout.gateway.url.replace('http', 'ws')}/v0${query}`, { headers })
}

const FORBIDDEN = { status: 403, body: JSON.stringify({ message: 'Forbidden' }) }

describe('a handshake', () => {
  it.each([
    ['the header', () => atGateway('', { authorization: `Bearer ${tenant.key}` })],
    ['the query api_key', () => atGateway(`?api_key=${tenant.key}`)],
    ['the query auth_token', () => atGateway(`?auth_token=${tenant.key}`)],
    [
      'the header, whatever the query says',
      () => atGateway('?api_key=am_x', { authorization: `Bearer ${tenant.key}` }),
    ],
    ['any Origin header', () => atGateway(`?api_key=${tenant.key}`, { origin: 'https://evil.example' })],
  ])('is accepted with the key in %s', async (_where, open) => {
    const stream = await open()
    expect(await stream.ask({ type: 'subscribe' })).toEqual({ type: 'subscribed', organization_id: tenant.id })
    await stream.close()
  })

  it.each([
    ['no key', () => atGateway('')],
    ['an unknown key', () => atGateway('?api_key=am_us_0')],
    ['a session token', () => atGateway('?api_key=a.b.c')],
    [
      'a bad key in the header before a good one in the query',
      () => atGateway(`?api_key=${tenant.key}`, { authorization: 'Bearer am_x' }),
    ],
    [
      'a revoked key',
      async () => {
        const key = await fanout.key(tenant)
        await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
        return fanout.connect(key.secret)
      },
    ],
  ])('is refused with 403 and %s', async (_what, open) => {
    await expect(open()).rejects.toMatchObject(FORBIDDEN)
  })

  it('is refused with 403 when it bypasses the gateway: without a token, for another operation, and for a provisional key', async () => {
    const at = `ws://127.0.0.1:${fanout.port}/`
    await expect(StreamClient.open(at)).rejects.toMatchObject(FORBIDDEN)
    const token = await new TokenMint('websocket-fanout', GATEWAY_KEYS.caller).caller('webhooks.list', callerOf())
    await expect(StreamClient.open(at, { headers: { 'x-restante-caller': token } })).rejects.toMatchObject(FORBIDDEN)
    const provisional = callerOf({ credential: { ...callerOf().credential, provisional: true } })
    await expect(fanout.connectAs(provisional)).rejects.toMatchObject(FORBIDDEN)
  })

  it('is answered 426 when it is not a WebSocket handshake', async () => {
    const response = await fetch(`${fanout.gateway.url}/v0`, { headers: { authorization: `Bearer ${tenant.key}` } })
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
  })
})

/** The response to a refused handshake. */
function handshakeOf(secret: string): Promise<IncomingMessage> {
  const headers = {
    authorization: `Bearer ${secret}`,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  }
  return new Promise((resolve, reject) => {
    get(`${fanout.gateway.url}/v0`, { headers }, (response) => resolve(response.resume())).on('error', reject)
  })
}

describe('the connections of an organization', () => {
  const placesOf = (organization: string) =>
    fanout.redis.client.zcard(`${fanout.redis.prefix}:websocket-fanout:streams:${organization}`)

  it('are limited to 1000 over all instances; the next is refused with 429 and Retry-After', async () => {
    const other = await fanout.tenant()
    const key = `${fanout.redis.prefix}:websocket-fanout:streams:${other.id}`
    const until = Date.now() + 60_000
    const taken = Array.from({ length: LIMITS.stream.connectionsPerOrganization }, () => [until, randomUUID()])
    await fanout.redis.client.zadd(key, ...taken.flat())
    const refused = await handshakeOf(other.key)
    expect([refused.statusCode, Number(refused.headers['retry-after'])]).toEqual([429, 5])
    // Leases of a dead instance expire, and their slots become free.
    await fanout.redis.client.zadd(key, ...taken.flatMap(([, id]) => [Date.now() - 1, id ?? '']))
    const stream = await fanout.connect(other.key)
    expect(await placesOf(other.id)).toBe(1)
    await stream.close()
    await waitFor(async () => (await placesOf(other.id)) === 0, { what: 'the place to be given back' })
  })

  it('can be opened while Redis is down', async () => {
    const { port } = await fanout.another({ REDIS_URL: 'redis://127.0.0.1:9' })
    const stream = await fanout.connectAs(callerWith(tenant, await fanout.key(tenant)), port)
    await stream.ask({ type: 'subscribe' })
    const event = receivedEvent(tenant.inbox)
    await fanout.publish(event)
    expect(await stream.next(() => true, { what: 'the event' })).toEqual(event.payload)
    await stream.close()
  })
})
