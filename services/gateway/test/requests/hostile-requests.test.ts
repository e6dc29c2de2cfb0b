import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { waitFor } from '@restante/testkit'
import { request } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

describe('hostile requests', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  const open: Socket[] = []

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy()
  })
  afterAll(() => gateway.stop())

  /** Writes HTTP by hand, and reads until the gateway ends the connection. */
  function raw(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1')
      open.push(socket)
      let all = ''
      socket.on('data', (chunk) => {
        all += chunk
      })
      socket.once('error', reject)
      socket.once('close', () => resolve(all))
      socket.write(text)
    })
  }

  function lines(start: string, ...headers: string[]): string {
    const all = [start, 'Host: edge', `Authorization: Bearer ${organization.key}`, 'Connection: close', ...headers]
    return `${all.join('\r\n')}\r\n\r\n`
  }

  it.each(['/v0/inboxes/%00', '/v0/inboxes/a%40%00', '/v0/pods/%00', '/v0/pods/%00/inboxes', '/v0/api-keys/%00'])(
    '404 for %s, which no database can hold',
    async (path) => {
      expect((await organization.api.get(path)).status).toBe(404)
    },
  )

  it('answers a header block that is too large with a message', async () => {
    const answer = await raw(lines('GET /v0/auth/me HTTP/1.1', `X-Long: ${'x'.repeat(40_000)}`))
    expect(answer).toMatch(/^HTTP\/1.1 431 [\s\S]*\{"message":"[^"]+"\}$/)
  })

  it.each([
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{}'],
    ['a length and an encoding', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ])('400 for a body with %s', async (_case, headers, body) => {
    expect(await raw(lines('POST /v0/inboxes HTTP/1.1', ...headers) + body)).toContain(' 400 ')
  })

  it('serves a GET with a body as if it had none', async () => {
    gateway.behind.record()
    gateway.behind.seen.length = 0
    expect(await raw(`${lines('GET /v0/threads HTTP/1.1', 'Content-Length: 5')}hello`)).toContain(' 200 OK')
    expect(gateway.behind.seen[0]?.headers['content-length']).toBeUndefined()
  })

  it('413 for a chunked body that grows beyond what the operation takes', async () => {
    gateway.behind.answer = (incoming, response) => {
      incoming.once('data', () => {
        response.writeHead(413, { 'content-type': 'application/json' }).end('{"message":"Request Too Long"}')
      })
    }
    async function* endless() {
      for (let index = 0; index < 200; index++) yield Buffer.alloc(64_000)
    }
    await organization.api.post('/v0/inboxes', { client_id: 'desk' })
    const { statusCode, body } = await request(`${gateway.url}/v0/inboxes/desk/messages/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organization.key}` },
      body: Readable.from(endless()),
    })
    await body.dump()
    expect(statusCode).toBe(413)
  })

  describe('compression of upstream responses', () => {
    const authorization = () => ({ authorization: `Bearer ${organization.key}`, 'accept-encoding': 'gzip' })
    const large = JSON.stringify({ text: 'x'.repeat(5_000) })

    it('compresses a large document and omits its length', async () => {
      gateway.behind.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': large.length }).end(large)
      }
      const answer = await request(`${gateway.url}/v0/threads`, { headers: authorization() })
      expect([answer.headers['content-encoding'], answer.headers['content-length']]).toEqual(['gzip', undefined])
      expect(gunzipSync(await answer.body.bytes()).toString()).toBe(large)
    })

    it('sends nothing after the head of a HEAD', async () => {
      gateway.behind.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': large.length }).end()
      }
      const answer = await raw(lines('HEAD /v0/threads HTTP/1.1', 'Accept-Encoding: gzip'))
      expect(answer).toMatch(/ 200 OK[\s\S]*\r\n\r\n$/)
    })

    it('keeps a 204 empty', async () => {
      gateway.behind.answer = (_request, response) => void response.writeHead(204).end()
      const answer = await request(`${gateway.url}/v0/webhooks/x`, { method: 'DELETE', headers: authorization() })
      expect([answer.statusCode, answer.headers['content-encoding'], await answer.body.text()]).toEqual([
        204,
        undefined,
        '',
      ])
    })

    it('leaves compressed content alone', async () => {
      const bytes = gzipSync(large)
      gateway.behind.answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bytes)
      }
      const answer = await request(`${gateway.url}/v0/threads`, { headers: authorization() })
      expect(gunzipSync(await answer.body.bytes()).toString()).toBe(large)
    })
  })

  describe('an upgrade', () => {
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    const handshake = (start: string, ...more: string[]) =>
      lines(start, ...upgrade, ...more).replace('Connection: close', 'Connection: Upgrade')

    it.each(['//', '///v0', 'http://', 'http://[', '*', '/v0/../v0'])(
      '404 to %s, and the process goes on',
      async (target) => {
        expect(await raw(handshake(`GET ${target} HTTP/1.1`))).toMatch(/ 40[04] /)
        expect((await organization.api.get('/v0/auth/me')).status).toBe(200)
      },
    )

    it('404 by another method than GET', async () => {
      gateway.behind.upgrade = (_request, socket) => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      expect(await raw(handshake('POST /v0 HTTP/1.1'))).toContain(' 404 ')
    })

    it('is refused with a body, whose length would swallow the beginning of the next request', async () => {
      let handshakes = 0
      gateway.behind.upgrade = (_incoming, socket) => {
        handshakes++
        socket.destroy()
      }
      const answers = [
        await raw(`${handshake('GET /v0 HTTP/1.1', 'Content-Length: 5')}hello`),
        await raw(`${handshake('GET /v0 HTTP/1.1', 'Transfer-Encoding: chunked')}0\r\n\r\n`),
      ]
      expect(answers.map((answer) => answer.split('\r\n', 1)[0])).toEqual(Array(2).fill('HTTP/1.1 400 Bad Request'))
      expect(handshakes).toBe(0)
    })

    it('passes on a refusal that the service sends in chunks', async () => {
      gateway.behind.upgrade = (_request, socket) => {
        socket.end('HTTP/1.1 429 Too Many Requests\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n')
      }
      const answer = await raw(handshake('GET /v0 HTTP/1.1'))
      expect(answer).toContain(' 429 ')
      expect(answer.toLowerCase()).not.toContain('transfer-encoding')
      expect(answer.endsWith('\r\n\r\n{}')).toBe(true)
    })

    it('closes the connection of a refused client that never does', async () => {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
      open.push(socket)
      socket.resume().on('error', () => {})
      socket.write(`${handshake('GET /elsewhere HTTP/1.1')}more`)
      await once(socket, 'end')
      const cut = () => {
        socket.write('x')
        return socket.destroyed
      }
      await waitFor(cut, { what: 'the connection to be cut' })
    })
  })
})
