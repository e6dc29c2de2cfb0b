import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { gzipSync } from 'node:zlib'
import {
  GuardedFetch,
  OutboundNetworkError,
  OutboundTimeoutError,
  OutboundTooLargeError,
  OutboundUnavailableError,
} from '../../src/outbound/index.ts'
import { NameServer } from './dns.ts'

const LIMITS = { timeoutMs: 60_000, maxBytes: 1_000 }

describe('GuardedFetch', () => {
  const names = new NameServer()
  const servers: Server[] = []
  const seen: IncomingMessage[] = []
  let outbound: GuardedFetch
  let guarded: GuardedFetch
  /** Knows no names but those of the name server. */
  let guardedOnly: GuardedFetch
  let port: number
  let answer: RequestListener

  beforeAll(async () => {
    const dnsServers = [await names.listen()]
    // One port on two addresses: the first plays the internal network, the second the public one.
    const inside = createServer((_request, response) => response.end('inside'))
    inside.listen(0, '127.0.0.1')
    await once(inside, 'listening')
    const address = inside.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    port = address.port
    const outside = createServer((request, response) => {
      seen.push(request)
      answer(request, response)
    })
    outside.listen(port, '127.0.0.2')
    await once(outside, 'listening')
    servers.push(inside, outside)
    outbound = new GuardedFetch({ version: '1.2.3', allow: { http: true, loopback: true }, dnsServers })
    guardedOnly = new GuardedFetch({ version: '1.2.3', allow: { http: true }, dnsServers })
    guarded = new GuardedFetch({ version: '1.2.3', allow: { http: true, networks: ['127.0.0.2/32'] }, dnsServers })
  })
  beforeEach(() => {
    seen.length = 0
    names.questions.length = 0
    answer = (_request, response) => response.end('outside')
  })
  afterAll(async () => {
    await Promise.all([outbound.stop(), guarded.stop(), guardedOnly.stop()])
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    names.close()
  })

  const at = (host: string, path = '/') => `http://${host}:${port}${path}`

  it('sends method, headers and body, and gives back status, headers and content', async () => {
    let received = ''
    answer = async (request, response) => {
      for await (const chunk of request) received += chunk
      response.writeHead(202, { 'x-answer': 'yes' }).end('thanks')
    }
    const response = await outbound.fetch(at('127.0.0.2', '/hook?a=1'), {
      ...LIMITS,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-custom': '1' },
      body: '{"a":1}',
    })
    expect(response).toMatchObject({ status: 202, url: at('127.0.0.2', '/hook?a=1'), truncated: false })
    expect(response.headers['x-answer']).toBe('yes')
    expect(response.body.toString()).toBe('thanks')
    expect(received).toBe('{"a":1}')
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-custom': '1',
      'user-agent': 'Restante/1.2.3',
      host: `127.0.0.2:${port}`,
    })
  })

  it('ignores connection headers given by the user', async () => {
    const headers = { Host: 'inside', 'Content-Length': '1', 'Transfer-Encoding': 'chunked', 'User-Agent': 'x' }
    await outbound.fetch(at('127.0.0.2'), { ...LIMITS, method: 'POST', headers, body: 'four' })
    expect(seen[0]?.headers).toMatchObject({
      host: `127.0.0.2:${port}`,
      'content-length': '4',
      'user-agent': 'Restante/1.2.3',
    })
    expect(seen[0]?.headers).not.toHaveProperty('transfer-encoding')
  })

  it('refuses a header value with a line break', async () => {
    const headers = { 'x-custom': 'a\r\nx-other: b' }
    await expect(outbound.fetch(at('127.0.0.2'), { ...LIMITS, headers })).rejects.toMatchObject({ reason: 'header' })
    expect(seen).toHaveLength(0)
  })

  it('keeps no cookies', async () => {
    answer = (_request, response) => response.setHeader('set-cookie', 'a=1').end()
    await outbound.fetch(at('127.0.0.2'), LIMITS)
    await outbound.fetch(at('127.0.0.2'), LIMITS)
    expect(seen[1]?.headers).not.toHaveProperty('cookie')
  })

  it('ignores proxy settings of the environment', async () => {
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = at('127.0.0.1')
    const response = await outbound.fetch(at('127.0.0.2'), LIMITS)
    delete process.env['HTTP_PROXY']
    delete process.env['http_proxy']
    expect(response.body.toString()).toBe('outside')
  })

  describe('with a host name', () => {
    it('refuses one that resolves to an internal address', async () => {
      names.zone.set('inside.test', [['127.0.0.1']])
      await expect(guarded.fetch(at('inside.test'), LIMITS)).rejects.toMatchObject({ reason: 'loopback' })
    })

    it('connects to the allowed address of a name that has both kinds', async () => {
      names.zone.set('both.test', [['127.0.0.1', '127.0.0.2']])
      expect((await guarded.fetch(at('both.test'), LIMITS)).body.toString()).toBe('outside')
    })

    it('connects to the address that was checked, though the name would answer differently a second time', async () => {
      names.zone.set('rebinding.test', [['127.0.0.2'], ['127.0.0.1']])
      expect((await guarded.fetch(at('rebinding.test'), LIMITS)).body.toString()).toBe('outside')
      expect(names.questions).toEqual(['rebinding.test'])
    })

    it('checks again for each connection', async () => {
      names.zone.set('turning.test', [['127.0.0.2'], ['127.0.0.1']])
      answer = (_request, response) => response.setHeader('connection', 'close').end('outside')
      await guarded.fetch(at('turning.test'), LIMITS)
      await expect(guarded.fetch(at('turning.test'), LIMITS)).rejects.toMatchObject({ reason: 'loopback' })
    })

    it('reports an unknown name as not found, never as an infrastructure failure', async () => {
      const failure = await outbound.fetch(at('unknown.test'), LIMITS).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(OutboundNetworkError)
      expect(failure).toMatchObject({ networkCode: 'ENOTFOUND' })
      expect(failure).not.toHaveProperty('code')
      expect(failure).not.toHaveProperty('cause')
      expect(failure).not.toBeInstanceOf(OutboundUnavailableError)
    })

    it.each([
      ['SERVFAIL', 2, 'ESERVFAIL'],
      ['REFUSED', 5, 'EREFUSED'],
    ])('reports a name server that answers %s as trouble on this side', async (_word, code, networkCode) => {
      names.failing.set('broken.test', code)
      const failure = await guardedOnly.fetch(at('broken.test'), LIMITS).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(OutboundUnavailableError)
      expect(failure).toMatchObject({ networkCode })
    })

    it('reports silent and absent name servers as trouble on this side', async () => {
      names.failing.set('silent.test', 'silence')
      const nobody = new GuardedFetch({ version: '1', allow: { http: true }, dnsServers: ['127.0.0.1:9'] })
      for (const client of [guardedOnly, nobody]) {
        const failure = await client
          .fetch(at('silent.test'), { ...LIMITS, timeoutMs: 60_000 })
          .catch((error: unknown) => error)
        expect(failure).toBeInstanceOf(OutboundUnavailableError)
      }
      await nobody.stop()
    })

    it('refuses a name all of whose addresses are internal', async () => {
      names.zone.set('ten.test', [['10.0.0.1', '192.168.0.1', '169.254.169.254']])
      await expect(guarded.fetch(at('ten.test'), LIMITS)).rejects.toMatchObject({ reason: 'private' })
    })
  })

  describe('with a redirect', () => {
    it('returns the redirect itself unless told to follow', async () => {
      answer = (_request, response) => response.writeHead(302, { location: at('127.0.0.1') }).end()
      const response = await outbound.fetch(at('127.0.0.2'), LIMITS)
      expect(response).toMatchObject({ status: 302 })
      expect(response.headers['location']).toBe(at('127.0.0.1'))
    })

    it('follows redirects, relative ones too, and returns the final URL', async () => {
      answer = (request, response) =>
        request.url === '/end' ? response.end('end') : response.writeHead(301, { location: '/end' }).end()
      const response = await outbound.fetch(at('127.0.0.2'), { ...LIMITS, redirects: 3 })
      expect(response).toMatchObject({ status: 200, url: at('127.0.0.2', '/end') })
    })

    it.each([
      ['to an internal address', 'http://127.0.0.1/', 'loopback'],
      ['to a metadata address', 'http://169.254.169.254/', 'metadata'],
      ['to another protocol', 'file:///etc/passwd', 'protocol'],
      ['to a URL with a password', 'http://a:b@127.0.0.2/', 'credentials'],
      ['to something else', 'http://[', 'url'],
    ])('refuses one %s', async (_what, location, reason) => {
      answer = (_request, response) => response.writeHead(302, { location }).end()
      await expect(guarded.fetch(at('127.0.0.2'), { ...LIMITS, redirects: 3 })).rejects.toMatchObject({ reason })
    })

    it('refuses more redirects than allowed', async () => {
      answer = (_request, response) => response.writeHead(302, { location: '/again' }).end()
      await expect(outbound.fetch(at('127.0.0.2'), { ...LIMITS, redirects: 3 })).rejects.toMatchObject({
        reason: 'redirects',
      })
      expect(seen).toHaveLength(4)
    })

    it('keeps method and body on 307, and turns a POST into a GET on 302', async () => {
      answer = (request, response) =>
        request.url === '/end'
          ? response.end()
          : response.writeHead(Number(request.url?.slice(1)), { location: '/end' }).end()
      const post = { ...LIMITS, redirects: 1, method: 'POST', body: 'x', headers: { 'content-type': 'a/b' } } as const
      await outbound.fetch(at('127.0.0.2', '/307'), post)
      await outbound.fetch(at('127.0.0.2', '/302'), post)
      const ends = seen.filter((request) => request.url === '/end')
      expect(ends.map((request) => [request.method, request.headers['content-type']])).toEqual([
        ['POST', 'a/b'],
        ['GET', undefined],
      ])
    })

    it('sends none of the headers to another origin', async () => {
      names.zone.set('other.test', [['127.0.0.2']])
      answer = (request, response) =>
        request.url === '/end' ? response.end() : response.writeHead(307, { location: at('other.test', '/end') }).end()
      const headers = { authorization: 'secret', 'x-key': 'secret', accept: 'image/*' }
      await outbound.fetch(at('127.0.0.2'), { ...LIMITS, redirects: 1, headers })
      expect(seen[1]?.headers).toMatchObject({ accept: 'image/*', host: `other.test:${port}` })
      expect(seen[1]?.headers).not.toHaveProperty('authorization')
      expect(seen[1]?.headers).not.toHaveProperty('x-key')
    })
  })

  describe('with limits', () => {
    it('refuses a response that is too large', async () => {
      answer = (_request, response) => response.end(Buffer.alloc(1_001))
      await expect(outbound.fetch(at('127.0.0.2'), LIMITS)).rejects.toBeInstanceOf(OutboundTooLargeError)
    })

    it('accepts a response that fits exactly', async () => {
      answer = (_request, response) => response.end(Buffer.alloc(1_000))
      expect((await outbound.fetch(at('127.0.0.2'), LIMITS)).body).toHaveLength(1_000)
    })

    it('decodes a coding that it never asked for, and ends a decompression bomb at the limit', async () => {
      answer = (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('unpacked'))
      expect((await outbound.fetch(at('127.0.0.2'), LIMITS)).body.toString()).toBe('unpacked')
      answer = (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1e7)))
      await expect(outbound.fetch(at('127.0.0.2'), LIMITS)).rejects.toBeInstanceOf(OutboundTooLargeError)
    })

    it.each(['gzip', 'unheard-of', 'gzip, gzip, gzip'])(
      'fails on content that is not the coding %j',
      async (coding) => {
        answer = (_request, response) => response.setHeader('content-encoding', coding).end('plain')
        await expect(outbound.fetch(at('127.0.0.2'), LIMITS)).rejects.toBeInstanceOf(OutboundNetworkError)
      },
    )

    it('gives up when the response does not begin in time', async () => {
      answer = () => {}
      const attempt = outbound.fetch(at('127.0.0.2'), { ...LIMITS, timeoutMs: 100 })
      await expect(attempt).rejects.toBeInstanceOf(OutboundTimeoutError)
    })

    it('gives up when the response does not end in time', async () => {
      answer = (_request, response) => response.write('begun')
      const attempt = outbound.fetch(at('127.0.0.2'), { ...LIMITS, timeoutMs: 100 })
      await expect(attempt).rejects.toBeInstanceOf(OutboundTimeoutError)
    })

    it("rejects with the caller's abort reason", async () => {
      const caller = new AbortController()
      answer = () => caller.abort(new Error('shutting down'))
      const attempt = outbound.fetch(at('127.0.0.2'), { ...LIMITS, signal: caller.signal })
      await expect(attempt).rejects.toThrow('shutting down')
    })

    it('reads the beginning of an endless response when only its status matters', async () => {
      answer = (_request, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(10_000)));
        }
        response.on('drain', more)
        more()
      }
      const response = await outbound.fetch(at('127.0.0.2'), { ...LIMITS, read: 'beginning' })
      expect(response).toMatchObject({ status: 200, truncated: true })
      expect(response.body).toHaveLength(1_000)
    })

    it('returns the status though the content never ends, or breaks off', async () => {
      const request = { ...LIMITS, timeoutMs: 2_000, read: 'beginning' } as const
      answer = (_request, response) => response.writeHead(201).write('begun')
      expect(await outbound.fetch(at('127.0.0.2'), request)).toMatchObject({ status: 201, truncated: true })
      answer = (_request, response) => {
        response.writeHead(201).write('begun', () => response.destroy())
      }
      expect(await outbound.fetch(at('127.0.0.2'), request)).toMatchObject({ status: 201, truncated: true })
    })

    it('asks the DNS servers of the system where none are given', async () => {
      const plain = new GuardedFetch({ version: '1.2.3', dnsServers: [] })
      const failure: unknown = await plain.fetch('https://nowhere.invalid/', LIMITS).catch((error: unknown) => error)
      await plain.stop()
      // A resolver without servers fails before it asks anyone.
      expect(failure).toBeInstanceOf(Error)
      expect(failure).not.toMatchObject({ networkCode: 'UNKNOWN_ARES_ERROR' })
    })

    it('names the reason of a failed connection', async () => {
      await expect(outbound.fetch('http://127.0.0.3:1/', LIMITS)).rejects.toMatchObject({ networkCode: 'ECONNREFUSED' })
      answer = (_request, response) => response.destroy()
      await expect(outbound.fetch(at('127.0.0.2'), LIMITS)).rejects.toBeInstanceOf(OutboundNetworkError)
    })
  })
})
