import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { operations } from '@restante/contracts/operations'
import { answer, type Exchange, HttpListener, type ListenerOptions, sendJson } from '../../src/http/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const health = { problems: async () => ({}), degradations: async () => ({}) }
const answerPath = async ({ path, search, response }: Exchange) => sendJson(response, 200, { path, search })

/** Reads bodies like the operation that creates an inbox; its maximum length is 1 MB. */
const readBody = (exchange: Exchange) =>
  answer({ ...operations['inboxes.create'], response: undefined }, async () => undefined, exchange, {}, {})

const listeners: HttpListener[] = []
const sockets: Socket[] = []

async function listen(options: Partial<ListenerOptions> = {}): Promise<number> {
  const docsUrl = 'https://docs.example'
  const listener = new HttpListener({
    port: 0,
    host: '127.0.0.1',
    log,
    docsUrl,
    health,
    handle: answerPath,
    ...options,
  })
  await listener.start()
  listeners.push(listener)
  return listener.port
}

/** Writes HTTP by hand, and reads until the listener ends the connection. */
function exchange(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = open(port)
    let all = ''
    socket.on('data', (chunk) => {
      all += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(all))
    for (const part of parts) socket.write(part)
  })
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  return socket
}

function head(start: string, ...headers: string[]): string {
  return `${[start, 'Host: edge', ...headers].join('\r\n')}\r\n\r\n`
}

function documentOf(answer: string): Record<string, unknown> {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()))
})

describe('a request target', () => {
  it.each([
    ['http://edge/v0/x?a=b', { path: '/v0/x', search: 'a=b' }],
    ['HTTPS://user@else.test:1/v0/x', { path: '/v0/x', search: '' }],
    ['http://edge?a=b', { path: '/', search: 'a=b' }],
    ['http://edge', { path: '/', search: '' }],
  ])('may name the host: %s', async (target, expected) => {
    const port = await listen()
    expect(documentOf(await exchange(port, head(`GET ${target} HTTP/1.1`, 'Connection: close')))).toEqual(expected)
  })

  it('may name the host in an upgrade too', async () => {
    const targets: (string | undefined)[] = []
    const port = await listen({
      upgrade: (request, socket) => {
        targets.push(request.url)
        socket.end()
      },
    })
    await exchange(port, head('GET http://edge/v0?a=b HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket'))
    expect(targets).toEqual(['/v0?a=b'])
  })
})

describe('an ambiguous message is refused with 400 and its connection closed', () => {
  const chunked = '2\r\n{}\r\n0\r\n\r\n'
  it.each([
    ['a length and an encoding', ['Content-Length: 6', 'Transfer-Encoding: chunked'], '0\r\n\r\nG'],
    ['an encoding and a length', ['Transfer-Encoding: chunked', 'Content-Length: 3'], chunked],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{}'],
    ['the same length twice', ['Content-Length: 2', 'Content-Length: 2'], '{}'],
    ['a list of lengths', ['Content-Length: 2, 2'], '{}'],
    ['a length with a sign', ['Content-Length: +2'], '{}'],
    ['a length in hex', ['Content-Length: 0x2'], '{}'],
    ['a length beyond all numbers', [`Content-Length: ${'9'.repeat(30)}`], '{}'],
    ['a blank before the colon', ['Content-Length : 2'], '{}'],
    ['a folded line', ['Transfer-Encoding:\r\n chunked'], chunked],
    ['an unknown encoding', ['Transfer-Encoding: xchunked'], chunked],
    ['a compressed transfer', ['Transfer-Encoding: gzip, chunked'], chunked],
    ['an encoding after chunked', ['Transfer-Encoding: chunked, identity'], chunked],
    ['an encoding named twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], chunked],
    ['an encoding after a control character', ['Transfer-Encoding: \u000bchunked'], chunked],
    ['a chunk size that is no number', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a negative chunk size', ['Transfer-Encoding: chunked'], '-1\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size beyond all numbers', ['Transfer-Encoding: chunked'], `${'f'.repeat(17)}\r\n{}\r\n0\r\n\r\n`],
    ['a chunk that is longer than it says', ['Transfer-Encoding: chunked'], '2\r\n{}0\r\n\r\n'],
    ['chunks with bare line feeds', ['Transfer-Encoding: chunked'], '2\n{}\n0\n\n'],
    ['an endless chunk extension', ['Transfer-Encoding: chunked'], `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
    ['a second Host', ['Host: other'], ''],
    ['a NUL in a header', ['X-A: a\u0000b'], ''],
  ])('%s', async (_what, headers, body) => {
    const port = await listen({ handle: readBody })
    const answer = await exchange(port, head('POST /x HTTP/1.1', 'Connection: close', ...headers) + body)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(documentOf(answer)).toMatchObject({
      name: 'ValidationError',
      code: 'validation_error',
      errors: [{ path: [] }],
    })
  })

  it.each([
    ['no Host', 'GET /x HTTP/1.1\r\n\r\n'],
    ['bare line feeds', 'GET /x HTTP/1.1\nHost: edge\n\n'],
    ['a bare carriage return', 'GET /x HTTP/1.1\rHost: edge\r\n\r\n'],
    ['an encoding in HTTP/1.0', head('POST /x HTTP/1.0', 'Transfer-Encoding: chunked') + chunked],
    ['no method', head('NONSENSE /x HTTP/1.1')],
    ['a backslash for a target', head('GET \\x HTTP/1.1')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex')],
    ['noise', Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 37) % 256))],
  ])('%s', async (_what, message) => {
    const answer = await exchange(await listen({ handle: readBody }), message)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(documentOf(answer)).toMatchObject({ code: 'validation_error' })
  })

  it('when it is an upgrade request, too', async () => {
    const port = await listen({ upgrade: (_request, socket) => void socket.end('taken') })
    const answer = await exchange(
      port,
      head('GET /v0 HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Host: other'),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })
})

it('gets 505 for an unsupported HTTP version', async () => {
  const answer = await exchange(await listen(), head('GET /x HTTP/2.0', 'Connection: close'))
  expect(answer).toMatch(/^HTTP\/1\.1 505 /)
})

it('gets 404 for CONNECT, on the socket that it would take over', async () => {
  const answer = await exchange(await listen(), head('CONNECT edge:80 HTTP/1.1'))
  expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  expect(documentOf(answer)).toMatchObject({ code: 'not_found', message: 'Route not found' })
})

it('gets 431 for a flood of headers, even when the client goes on sending', async () => {
  const flood = Array.from({ length: 50_000 }, (_, index) => `header-${index}: ${'v'.repeat(80)}`)
  const answer = await exchange(await listen(), head('GET /x HTTP/1.1', ...flood))
  expect(answer).toMatch(/^HTTP\/1\.1 431 /)
})

it('pipelined requests are answered in order, each once', async () => {
  const port = await listen()
  const paths = ['/one', '/two', '/three']
  const requests = paths.map((path) => head(`GET ${path} HTTP/1.1`)).join('')
  const answers = await exchange(port, requests + head('GET /last HTTP/1.1', 'Connection: close'))
  expect([...answers.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path)).toEqual([...paths, '/last'])
})

describe('a request body', () => {
  const post = (...headers: string[]) => head('POST /x HTTP/1.1', 'Connection: close', ...headers)

  it('is refused with 413 when its declared length is too large, before any of it has arrived', async () => {
    const socket = open(await listen({ handle: readBody }))
    socket.write(head('POST /x HTTP/1.1', 'Content-Length: 10000000000'))
    const [first] = await once(socket, 'data')
    expect(String(first)).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('is refused with 413 when it grows too large, and a client that goes on sending is disconnected', async () => {
    const socket = open(await listen({ handle: readBody }))
    socket.on('error', () => undefined)
    socket.write(head('POST /x HTTP/1.1', 'Transfer-Encoding: chunked'))
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const sending = setInterval(() => socket.write(chunk), 5)
    const [first] = await once(socket, 'data')
    expect(String(first)).toMatch(/^HTTP\/1\.1 413 /)
    // A cut connection may raise an error first, which `once` would take for a failure.
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(sending)
  })

  it('does not cost the connection when little of a refused body remains', async () => {
    const port = await listen({ handle: async () => Promise.reject(new Error('never read')) })
    const answers = await exchange(
      port,
      `${head('POST /x HTTP/1.1', 'Content-Length: 100000')}${'x'.repeat(100_000)}`,
      head('GET /healthz HTTP/1.1', 'Connection: close'),
    )
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 500', 'HTTP/1.1 200'])
  })

  it('is refused with 400 when it is compressed: nothing is inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const port = await listen({ handle: readBody })
    const answer = await exchange(port, post('Content-Encoding: gzip', `Content-Length: ${bomb.length}`), bomb)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(documentOf(answer)).toMatchObject({
      name: 'ValidationError',
      code: 'validation_error',
      errors: [{ path: ['headers', 'content-encoding'] }],
    })
  })

  it('is asked for with 100 Continue only when it is needed', async () => {
    const port = await listen({ handle: readBody })
    const wanted = await exchange(port, `${post('Expect: 100-continue', 'Content-Length: 2')}{}`)
    expect(wanted.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 204'])
    const refused = await exchange(port, post('Expect: 100-continue', 'Content-Length: 10000000000'))
    expect(refused.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413'])
    const strange = await exchange(port, post('Expect: 200-ok'))
    expect(strange).toMatch(/^HTTP\/1\.1 417 [\s\S]*\{"message":"Expectation Failed"\}$/)
  })

  it.each([
    ['100,000 arrays in each other', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 arrays that never end', '['.repeat(100_000)],
    ['100,000 objects in each other', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a member of 300,000 arrays', `{"username":${'['.repeat(300_000)}${']'.repeat(300_000)}}`],
    ['an array of 500,000', `{"username":[${'1,'.repeat(500_000)}1]}`],
    ['a metadata of 50,000 keys', `{"metadata":{${Array.from({ length: 50_000 }, (_, key) => `"${key}":1`)}}}`],
    ['bytes that are no UTF-8', Buffer.from('{"username":"\xc3\x28"}', 'latin1')],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['a list', '[]'],
    ['a text', '"text"'],
  ])('is refused with 400 when it is %s', async (_what, body) => {
    const port = await listen({ handle: readBody })
    const bytes = Buffer.from(body)
    const answer = await exchange(port, post(`Content-Length: ${bytes.length}`), bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('may begin with a byte order mark', async () => {
    const port = await listen({ handle: readBody })
    expect(await exchange(port, `${post('Content-Length: 5')}\ufeff{}`)).toMatch(/^HTTP\/1\.1 204 /)
  })
})
