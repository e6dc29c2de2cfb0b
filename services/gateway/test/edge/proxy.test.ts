import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { Duplex } from 'node:stream'
import { createGzip, gunzipSync } from 'node:zlib'
import { waitFor } from '@restante/testkit'
import { request } from 'undici'
import { callerOf } from '../fake-upstreams.ts'
import { CALLER_KEY, startGateway, type TestGateway } from '../gateway.ts'

describe('forwarded operations', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let inboxUid: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    await organization.api.post('/v0/inboxes', { username: 'desk', display_name: 'Desk', client_id: 'desk' })
    const row = await gateway.db.orm.inbox.findFirstOrThrow({ where: { address: 'desk@restante.test' } })
    inboxUid = row.uid
  })
  afterAll(() => gateway.stop())

  beforeEach(() => {
    gateway.behind.seen.length = 0
    gateway.behind.record()
  })

  interface Asked {
    key?: string
    method?: 'GET' | 'POST'
    body?: string
    /** Nothing else is sent on its connection. */
    reset?: boolean
  }

  async function seenBy(path: string, init: Asked = {}) {
    const { key = organization.key, method = 'GET', body = null, reset = false } = init
    const headers = { authorization: `Bearer ${key}` }
    const answer = await request(`${gateway.url}${path}`, { method, body, reset, headers })
    const document = await answer.body.text()
    const [seen] = gateway.behind.seen.splice(0)
    return { status: answer.statusCode, document, seen }
  }

  describe('the caller token', () => {
    it('names the inbox of the path, in every spelling', async () => {
      for (const reference of ['desk%40restante.test', 'DESK@restante.test', 'desk']) {
        const { seen } = await seenBy(`/v0/inboxes/${reference}/threads`)
        if (seen === undefined) throw new Error('the service saw nothing')
        expect(await callerOf(seen, 'threads.list', CALLER_KEY)).toMatchObject({
          organization_id: organization.id,
          pod_id: organization.id,
          inbox: { uid: inboxUid, address: 'desk@restante.test', display_name: 'Desk', paused: false },
          credential: { tier: 'organization', type: 'bearer', app_connect: true },
          sending: 'ok',
          unverified: false,
        })
      }
    })

    it('narrows a pod key to its pod and an inbox key to its inbox on an organization path', async () => {
      const pod = await gateway.operator.createKey({ organizationId: organization.id, pod: organization.id })
      const podCall = await seenBy('/v0/threads', { key: pod.secret })
      expect(podCall.seen && (await callerOf(podCall.seen, 'threads.list', CALLER_KEY))).toMatchObject({
        pod_id: organization.id,
      })
      const inbox = await gateway.operator.createKey({ organizationId: organization.id, inbox: 'desk' })
      const inboxCall = await seenBy('/v0/threads', { key: inbox.secret })
      expect(inboxCall.seen && (await callerOf(inboxCall.seen, 'threads.list', CALLER_KEY))).toMatchObject({
        inbox: { uid: inboxUid },
        credential: { tier: 'inbox' },
      })
    })

    it('is valid for one operation of one service', async () => {
      const { seen } = await seenBy('/v0/threads')
      if (seen === undefined) throw new Error('the service saw nothing')
      await expect(callerOf(seen, 'threads.get', CALLER_KEY)).rejects.toThrow()
      await expect(callerOf(seen, 'threads.list', 'some other key, as long')).rejects.toThrow()
    })

    it('shows a pause as soon as it was acknowledged', async () => {
      await organization.api.post('/v0/inboxes', { username: 'paused' })
      await seenBy('/v0/inboxes/paused@restante.test/messages')
      await organization.api.patch('/v0/inboxes/paused@restante.test', { status: 'paused' })
      const { seen } = await seenBy('/v0/inboxes/paused@restante.test/messages')
      expect(seen && (await callerOf(seen, 'messages.list', CALLER_KEY))).toMatchObject({ inbox: { paused: true } })
    })

    it('names what the organization may send', async () => {
      const signUp = await gateway.as().post('/v0/agent/sign-up', { username: 'sender' })
      const key = String(signUp.body['api_key'])
      const sending = async () => {
        const { seen } = await seenBy('/v0/inboxes/sender@restante.test/messages', { key })
        return seen && (await callerOf(seen, 'messages.list', CALLER_KEY)).sending
      }
      expect(await sending()).toBe('none')
      await gateway.as(key).post('/v0/agent/human', { human_email: 'boss@people.test' })
      expect(await sending()).toBe('only:boss@people.test')
      await gateway.operator.setStatus(String(signUp.body['organization_id']), 'suspended')
      expect(await sending()).toBe('suspended')
    })
  })

  describe('the request', () => {
    it('arrives under its unprefixed path, with its original encoding and query', async () => {
      const path = '/v0/inboxes/desk@restante.test/messages/%3Ca%2Fb%40c%3E/raw/?x=%20y&labels=%5B%22a%22%5D'
      const { seen } = await seenBy(path)
      expect(seen?.path).toBe('/messages/%3Ca%2Fb%40c%3E/raw?x=%20y&labels=%5B%22a%22%5D')
    })

    it('arrives with a message id as one segment, though its slashes were not encoded', async () => {
      const inbox = '/v0/inboxes/desk@restante.test/messages'
      const { seen } = await seenBy(`${inbox}/%3Cissue/7@tracker.test%3E/raw?x=/`)
      expect(seen?.path).toBe('/messages/%3Cissue%2F7%40tracker.test%3E/raw?x=/')
      const { seen: reply } = await seenBy(`${inbox}/<a/b/c+d@x.test>/reply`, { method: 'POST', body: '{}' })
      expect(reply?.path).toBe('/messages/%3Ca%2Fb%2Fc%2Bd%40x.test%3E/reply')
    })

    it('loses the key and every header that only the gateway may set', async () => {
      // Written by hand: clients of a higher level have their own idea of the Connection header.
      const outgoing = httpRequest(`${gateway.url}/v0/threads`, {
        headers: {
          authorization: `Bearer ${organization.key}`,
          'x-restante-caller': 'forged',
          'x-restante-service': 'forged',
          'x-restante-peer': '203.0.113.9',
          connection: 'keep-alive, x-hop',
          'x-hop': '1',
          'x-fern-language': 'JavaScript',
          'x-request-id': 'mine',
        },
      })
      outgoing.end()
      const [response] = await once(outgoing, 'response')
      response.resume()
      await once(response, 'end')
      const [seen] = gateway.behind.seen
      expect(seen?.headers).toMatchObject({ 'x-fern-language': 'JavaScript', 'x-request-id': 'mine' })
      expect(seen?.headers['x-restante-peer']).toMatch(/127\.0\.0\.1/)
      expect(seen?.headers['x-restante-caller']).not.toContain('forged')
      for (const name of ['authorization', 'x-restante-service', 'x-hop'])
        expect(seen?.headers).not.toHaveProperty(name)
      expect(seen?.rawHeaders.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1)
    })

    it('carries a large body through unread', async () => {
      const body = `{"text":"${'x'.repeat(5_000_000)}"}`
      const { status, seen } = await seenBy('/v0/inboxes/desk/messages/send', { method: 'POST', body })
      expect([status, seen?.body.length]).toEqual([200, body.length])
    })

    it('is refused with the bare 413 before any of it is forwarded when it declares too large a body', async () => {
      const body = randomBytes(6_000_000).toString('base64')
      // The gateway may cut the connection while the rest still comes: no other request shall be on it.
      const options = { method: 'POST', body, reset: true } as const
      const { status, document, seen } = await seenBy('/v0/inboxes/desk/messages/send', options)
      expect([status, document, seen]).toEqual([413, '{"message":"Request Too Long"}', undefined])
    })
  })

  describe('the answer', () => {
    it('is returned with unchanged status, headers and body', async () => {
      gateway.behind.answer = (_request, response) => {
        response.writeHead(422, {
          'content-type': 'application/json',
          'x-should-retry': 'false',
          'x-restante-own': '1',
        })
        response.end('{"code":"unprocessable"}')
      }
      const answer = await request(`${gateway.url}/v0/threads`, {
        headers: { authorization: `Bearer ${organization.key}` },
      })
      expect([answer.statusCode, await answer.body.text()]).toEqual([422, '{"code":"unprocessable"}'])
      expect(answer.headers).toMatchObject({ 'x-should-retry': 'false', 'access-control-allow-origin': '*' })
    })

    it('has every byte that the service sent, at once or in pieces', async () => {
      const bytes = Buffer.from(Array.from({ length: 2_000 }, (_, index) => index % 256))
      const large = randomBytes(300_000)
      const answers: (readonly [parts: readonly Buffer[], declared: boolean])[] = [
        [[bytes], true],
        [[bytes], false],
        [[bytes.subarray(0, 700), bytes.subarray(700)], true],
        [[bytes.subarray(0, 700), bytes.subarray(700)], false],
        [[large], true],
        [[], true],
      ]
      for (const [parts, declared] of answers) {
        const whole = Buffer.concat([...parts])
        gateway.behind.answer = async (_request, response) => {
          if (declared) response.setHeader('content-length', whole.length)
          for (const part of parts) {
            response.write(part)
            await new Promise((resolve) => setImmediate(resolve))
          }
          response.end()
        }
        const headers = { authorization: `Bearer ${organization.key}` }
        const answer = await request(`${gateway.url}/v0/threads`, { headers })
        expect(Buffer.from(await answer.body.arrayBuffer()).equals(whole)).toBe(true)
        expect(answer.headers['content-length']).toBe(declared ? String(whole.length) : undefined)
      }
    })

    it('has no body for HEAD, and the length that GET would have', async () => {
      gateway.behind.answer = (_request, response) => void response.setHeader('content-length', '12').end()
      const answer = await request(`${gateway.url}/v0/threads`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${organization.key}` },
      })
      expect([answer.statusCode, answer.headers['content-length'], await answer.body.text()]).toEqual([200, '12', ''])
    })

    it('is not read faster than the client takes it', async () => {
      let written = 0
      gateway.behind.answer = (_request, response) => {
        const block = Buffer.alloc(64 * 1024)
        const write = () => {
          while (written < 64_000_000) {
            written += block.length
            if (!response.write(block)) return void response.once('drain', write)
          }
          response.end()
        }
        write()
      }
      const outgoing = httpRequest(`${gateway.url}/v0/threads`, {
        headers: { authorization: `Bearer ${organization.key}` },
      })
      outgoing.end()
      const [response] = await once(outgoing, 'response')
      response.pause()
      let before = -1
      await waitFor(
        () => {
          const still = written === before
          before = written
          return still
        },
        { what: 'the service to stop writing', interval: 200 },
      )
      expect(written).toBeLessThan(32_000_000)
      response.resume()
      await once(response, 'end')
      expect(written).toBeGreaterThanOrEqual(64_000_000)
    })

    it('needs no more listeners for a long compressed body than for a short one', async () => {
      gateway.behind.answer = (_request, response) => {
        response.setHeader('content-type', 'text/plain').end(randomBytes(2_000_000).toString('hex'))
      }
      const compressions: object = Object.getPrototypeOf(createGzip())
      let listeners = 0
      Object.defineProperty(compressions, 'on', {
        configurable: true,
        value(this: Duplex, event: string, listener: () => void) {
          if (event === 'drain') listeners++
          return Duplex.prototype.on.call(this, event, listener)
        },
      })
      try {
        const headers = { authorization: `Bearer ${organization.key}`, 'accept-encoding': 'gzip' }
        const answer = await request(`${gateway.url}/v0/threads`, { headers })
        expect(answer.headers['content-encoding']).toBe('gzip')
        const bytes = await answer.body.arrayBuffer()
        expect(gunzipSync(bytes).length).toBe(4_000_000)
        expect(listeners).toBe(1)
      } finally {
        Reflect.deleteProperty(compressions, 'on')
      }
    })

    it('aborts the upstream request when the client disconnects', async () => {
      let gone = false
      gateway.behind.answer = (incoming, response) => {
        incoming.once('close', () => {
          gone = true
        })
        response.writeHead(200).write('x')
      }
      const outgoing = httpRequest(`${gateway.url}/v0/threads`, {
        headers: { authorization: `Bearer ${organization.key}` },
      })
      outgoing.end()
      const [response] = await once(outgoing, 'response')
      response.on('error', () => {})
      outgoing.destroy()
      await waitFor(() => gone, { what: 'the service to notice the disconnect' })
    })

    it('breaks off when the service breaks off', async () => {
      gateway.behind.answer = (_request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half')
        setTimeout(() => response.destroy(), 20)
      }
      const answer = await request(`${gateway.url}/v0/threads`, {
        headers: { authorization: `Bearer ${organization.key}` },
      })
      await expect(answer.body.text()).rejects.toThrow()
    })
  })

  describe('a service that cannot be reached', () => {
    it('sends nothing of a response that broke off after its header', async () => {
      let calls = 0
      gateway.behind.answer = (incoming, response) => {
        calls++
        if (calls > 1) return void response.end('{}')
        response.writeHead(201, { 'content-length': '100', 'content-encoding': 'br', 'x-first': '1' }).flushHeaders()
        setImmediate(() => incoming.socket.destroySoon())
      }
      const ask = (method: 'GET' | 'POST', path: string) =>
        request(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${organization.key}` } })
      const got = await ask('GET', '/v0/threads')
      expect([got.statusCode, await got.body.text(), calls]).toEqual([200, '{}', 2])
      calls = 0
      const posted = await ask('POST', '/v0/inboxes/desk/messages/send')
      expect([posted.statusCode, calls]).toEqual([503, 1])
      expect(await posted.body.json()).toMatchObject({ code: 'service_unavailable' })
      for (const { headers } of [got, posted]) {
        expect(headers).not.toHaveProperty('x-first')
        expect(headers).not.toHaveProperty('content-encoding')
      }
    })

    it('503 with Retry-After', async () => {
      const lonely = await gateway.another({ MAIL_INGEST_URL: 'http://127.0.0.1:9' })
      const { status, body, headers } = await lonely.as(organization.key).get('/v0/threads')
      expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1'])
      expect(body).not.toHaveProperty('cause')
    })

    it('retries a GET after a broken connection, but nothing that has an effect', async () => {
      let calls = 0
      gateway.behind.answer = (incoming, response) => {
        calls++
        if (calls === 1) return void incoming.socket.destroy()
        response.setHeader('content-type', 'application/json').end('{}')
      }
      expect((await organization.api.get('/v0/threads')).status).toBe(200)
      expect(calls).toBe(2)
      calls = 0
      const send = await organization.api.post('/v0/inboxes/desk/messages/send', { to: 'a@b.test' })
      expect([send.status, calls]).toEqual([503, 1])
    })
  })
})
