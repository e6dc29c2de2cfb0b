import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { LIMITS } from '@restante/contracts/vocabulary'
import { ServiceClient } from '@restante/service/http'
import { serviceCommand } from '@restante/service/process'
import {
  callerHeaders,
  createDatabase,
  GATEWAY_KEYS,
  GatewayProcess,
  podDeletedEvent,
  receivedEvent,
  StreamClient,
  underLoad,
  waitFor,
} from '@restante/testkit'
import { register } from 'prom-client'
import { WebSocket } from 'ws'
import { callerWith, REVOCATION_MS, startFanout, type Tenant, type TestFanout } from './fanout.ts'

const [PROGRAM, ...ARGUMENTS] = serviceCommand(path.resolve(import.meta.dirname, '../src/main.ts'))

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

/** The code with which the server closes a stream, and after how long. */
async function closeOf(stream: StreamClient): Promise<{ code: number; reason: string; ms: number }> {
  const begun = performance.now()
  const closed = await waitFor(() => stream.closed, { what: 'the stream to close', interval: 5 })
  return { ...closed, ms: performance.now() - begun }
}

async function subscribed(secret = tenant.key): Promise<StreamClient> {
  const stream = await fanout.connect(secret)
  await stream.ask({ type: 'subscribe' })
  return stream
}

async function closesWith(code: number): Promise<number> {
  const { values = [] } = (await register.getSingleMetric('restante_stream_closes_total')?.get()) ?? {}
  return values.find(({ labels }) => labels['code'] === code)?.value ?? Number.NaN
}

describe('limits for frames of a client', () => {
  it('accept a frame of 64 KB, and close with 1009 for a larger one', async () => {
    const stream = await subscribed()
    const frame = (filler: string) => JSON.stringify({ type: 'subscribe', filler })
    const filler = (bytes: number) => frame('x'.repeat(bytes - frame('').length))
    expect(await stream.ask(filler(LIMITS.stream.frame))).toMatchObject({ type: 'subscribed' })
    stream.send(filler(LIMITS.stream.frame + 1))
    expect((await closeOf(stream)).code).toBe(1009)
  })

  it('answer fifty frames at once, and close with 1008 for more, which are not answered', async () => {
    const stream = await subscribed()
    await waitFor(async () => (await stream.ask({ type: 'subscribe' })) !== undefined, { what: 'an answer' })
    for (let frame = 0; frame < 45; frame++) stream.send('{}')
    await waitFor(() => stream.frames.filter((frame) => frame['message'] === 'Forbidden').length === 45, {
      what: '45 answers',
    })
    for (let frame = 0; frame < 200; frame++) stream.send('{}')
    expect(await closeOf(stream)).toMatchObject({ code: 1008, reason: 'Too many frames' })
    expect(stream.frames.length).toBeLessThan(150)
  })

  it('count pings too, so that a client cannot fill the memory with answers', async () => {
    const headers = callerHeaders(
      'websocket-fanout',
      GATEWAY_KEYS.caller,
      'stream.connect',
      callerWith(tenant, await fanout.key(tenant)),
    )
    const socket = new WebSocket(`ws://127.0.0.1:${fanout.port}/`, { headers })
    await once(socket, 'open')
    for (let ping = 0; ping < 200; ping++) socket.ping()
    const [code] = await once(socket, 'close')
    expect(code).toBe(1008)
  })
})

describe('a reader that is too slow', () => {
  /** A client of the fan-out that stops reading after its subscription. */
  async function slowReader(): Promise<WebSocket> {
    const headers = callerHeaders(
      'websocket-fanout',
      GATEWAY_KEYS.caller,
      'stream.connect',
      callerWith(tenant, await fanout.key(tenant)),
    )
    const socket = new WebSocket(`ws://127.0.0.1:${fanout.port}/`, { headers })
    await once(socket, 'open')
    socket.send('{"type":"subscribe"}')
    await once(socket, 'message')
    socket.pause()
    return socket
  }

  it('is closed with 1013 once 4 MB are waiting, counted once, and delays no one else', async () => {
    const before = await closesWith(1013)
    const slow = await slowReader()
    const quick = await subscribed()
    // Kernel buffers on both sides take several megabytes before anything waits.
    for (let sent = 1; sent <= 30 && (await closesWith(1013)) === before; sent++) {
      await fanout.publish(receivedEvent(tenant.inbox, { text: 'x'.repeat(850_000) }))
      // One at a time: on a loaded machine this process would be a slow reader itself.
      await waitFor(() => quick.events.length === sent, { what: 'the quick one to have it', timeout: 40_000 })
    }
    const closed = once(slow, 'close')
    slow.resume()
    expect((await closed)[0]).toBe(1013)
    expect(await closesWith(1013)).toBe(before + 1)
    await quick.close()
  })
})

describe('a key that ends', () => {
  it('closes its streams with 1008 within a second when it is revoked, and no others', async () => {
    const key = await fanout.key(tenant)
    const [first, second, other] = [await subscribed(key.secret), await subscribed(key.secret), await subscribed()]
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
    for (const stream of [first, second]) {
      const { code, reason, ms } = await closeOf(stream)
      expect([code, reason]).toEqual([1008, 'API key revoked'])
      expect(ms).toBeLessThan(underLoad(REVOCATION_MS))
    }
    expect(other.closed).toBeUndefined()
    await other.close()
  })

  it('closes them also while no events arrive', async () => {
    const database = await createDatabase(path.resolve(import.meta.dirname, '..'))
    const cutOff = await fanout.another({ DATABASE_URL: database.url, KAFKA_BROKERS: '127.0.0.1:9' }, false)
    const key = await fanout.key(tenant)
    const stream = await fanout.connectAs(callerWith(tenant, key), cutOff.port)
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
    const { code, ms } = await closeOf(stream)
    expect(code).toBe(1008)
    expect(ms).toBeLessThan(underLoad(REVOCATION_MS))
    await cutOff.service.stop()
    await database.drop()
  })

  it("closes at once a stream that was admitted before the key's end and opened after it", async () => {
    const key = await fanout.key(tenant)
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
    const stream = await fanout.connectAs(callerWith(tenant, key))
    expect((await closeOf(stream)).code).toBe(1008)
  })

  it('closes its streams with 1008 when it expires', async () => {
    // The stream has to be open before.
    const expires = new Date(Date.now() + 5_000)
    const key = await fanout.key(tenant, { expires_at: expires.toISOString() })
    const stream = await subscribed(key.secret)
    expect((await closeOf(stream)).code).toBe(1008)
    expect(Date.now()).toBeGreaterThanOrEqual(expires.getTime() - 100)
    expect(Date.now()).toBeLessThan(expires.getTime() + underLoad(REVOCATION_MS))
  })

  it('ends with its pod; subscriptions of others to that pod end silently', async () => {
    const podId = await fanout.gateway.addPod(tenant)
    const inbox = await fanout.gateway.addInbox(tenant, podId)
    const own = await fanout.connect((await fanout.key(tenant, { prefix: `/pods/${podId}` })).secret)
    const other = await fanout.connect(tenant.key)
    await other.ask({ type: 'subscribe', pod_ids: [podId] })
    await fanout.tell(podDeletedEvent(tenant.id, podId))
    expect((await closeOf(own)).code).toBe(1008)
    const [late, sign] = [receivedEvent(inbox), receivedEvent(tenant.inbox)]
    await other.ask({ type: 'subscribe', inbox_ids: [tenant.inbox.address] })
    await fanout.publish(late, sign)
    await other.next((event) => event['event_id'] === sign.id, { what: 'a sign of life' })
    expect(other.events.map((event) => event['event_id'])).toEqual([sign.id])
    await other.close()
  })

  it('ends with its inbox; subscriptions of others to that inbox end silently', async () => {
    const inbox = await fanout.gateway.addInbox(tenant)
    const own = await subscribed((await fanout.key(tenant, { prefix: `/inboxes/${inbox.address}` })).secret)
    const wider = await fanout.connect(tenant.key)
    await wider.ask({ type: 'subscribe', inbox_ids: [inbox.address] })
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/inboxes/${inbox.address}`)
    expect((await closeOf(own)).code).toBe(1008)
    expect(await wider.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
    expect(wider.closed).toBeUndefined()
    await wider.close()
  })
})

describe('a shutdown', () => {
  it('closes every stream with 1012, also those opened during the drain, and never with 1000', async () => {
    // Long enough for another stream to be opened between the first and the last of them.
    const { service, port } = await fanout.another({ STREAM_DRAIN: '5s' })
    const key = await fanout.key(tenant)
    const streams = await Promise.all(Array.from({ length: 5 }, () => fanout.connectAs(callerWith(tenant, key), port)))
    const stopped = service.stop()
    await waitFor(() => streams.some(({ closed }) => closed), { what: 'the first close' })
    streams.push(await fanout.connectAs(callerWith(tenant, key), port))
    await stopped
    for (const stream of streams) expect((await closeOf(stream)).code).toBe(1012)
  })

  it('of an edge closes the streams that it proxies, and no others', async () => {
    const edge = await GatewayProcess.start({ ...fanout, databaseUrl: fanout.gateway.databaseUrl })
    const piped = await StreamClient.open(`${edge.url.replace('http', 'ws')}/v0?api_key=${tenant.key}`)
    const other = await subscribed()
    await edge.stop()
    expect((await closeOf(piped)).code).toBe(1012)
    expect(other.closed).toBeUndefined()
    await other.close()
  })

  it('of an edge closes its streams on every instance, whichever instance is called', async () => {
    const { port: elsewhere } = await fanout.another()
    const caller = callerWith(tenant, await fanout.key(tenant))
    const open = (requestId: string) => fanout.connectAs(caller, elsewhere, { 'x-request-id': requestId })
    const [leaving, staying] = await Promise.all([open('leaving'), open('staying')])
    const url = `http://127.0.0.1:${fanout.port}`
    const edge = new ServiceClient({ from: 'gateway', to: 'websocket-fanout', url, key: GATEWAY_KEYS.peer })
    await edge.call('websocket-fanout.drainConnections', { request_ids: ['leaving', 'unknown'], over_ms: 0 })
    expect((await closeOf(leaving)).code).toBe(1012)
    expect(staying.closed).toBeUndefined()
    await staying.close()
    await edge.stop()
  })

  it('exits with 0, closes streams with 1012, and logs no key', async () => {
    const { port, service } = await fanout.another()
    await service.stop()
    const env = { ...fanout.env, PORT: String(port), LOG_LEVEL: 'trace', PATH: process.env['PATH'] ?? '' }
    const child = spawn(PROGRAM, ARGUMENTS, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
    await waitFor(ready, { what: 'the process to be ready', timeout: 60_000 })
    const key = await fanout.key(tenant)
    const stream = await fanout.connectAs(callerWith(tenant, key), port)
    await stream.ask({ type: 'subscribe' })
    const text = 'a text that no log may hold'
    await fanout.publish(receivedEvent(tenant.inbox, { text }))
    await stream.next(() => true, { what: 'the event', timeout: 40_000 })
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await closeOf(stream)).code).toBe(1012)
    expect((await exited)[0]).toBe(0)
    expect(output).toContain('stream ended')
    for (const secret of [key.secret, tenant.key, text, 'eyJ']) expect(output).not.toContain(secret)
  })
})
