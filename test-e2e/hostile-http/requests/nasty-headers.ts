import type { Draw } from './draw.ts'

const COMMAS = ','.repeat(500)

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'content-type': ['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', '', 'a/b;;;;', '\u00ff'],
  'content-encoding': ['gzip', 'br', 'identity', 'deflate, gzip', 'x'],
  accept: ['', '*/*', 'text/html', 'a;q=2', COMMAS],
  'accept-encoding': ['gzip', 'gzip;q=0', 'br, gzip, deflate', '*', 'identity;q=0', COMMAS],
  range: ['bytes=0-0', 'bytes=-1', `bytes=${'0-,'.repeat(300)}`, 'x'],
  'if-match': ['*', '"1"', 'x', ''],
  'if-none-match': ['*', '"1"'],
  'if-modified-since': ['yesterday', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  'x-request-id': ['mine', '', ' ', 'x'.repeat(200), 'a\tb'],
  'x-restante-caller': ['forged', 'eyJhbGciOiJub25lIn0.e30.'],
  'x-restante-service': ['forged'],
  'x-restante-peer': ['203.0.113.7', '\u00ff'],
  'x-http-method-override': ['DELETE'],
  'x-forwarded-for': ['203.0.113.7, 198.51.100.1'],
  connection: ['authorization', 'content-length, close', 'content-type', 'x-request-id'],
  host: ['', 'else.test:99999', '[::1'],
  te: ['trailers'],
  expect: ['100-continue'],
  upgrade: ['h2c', 'websocket'],
  cookie: ['a=b; '.repeat(200)],
  origin: ['null', 'http://else.test'],
  'access-control-request-headers': ['authorization', 'a, '.repeat(300)],
  traceparent: ['00-00000000000000000000000000000000-0000000000000000-01', 'x'],
  'user-agent': ['\u00ff\u0080', 'x'.repeat(4_000)],
}

const NAMES = Object.keys(HEADERS)

const IDEMPOTENCY_KEYS = ['', ' ', 'k'.repeat(257), 'a b', 'a/b', '\u00e9', '__proto__']

const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer  x',
  'bearer x',
  'Basic YTpi',
  'Bearer a.b.c',
  'Bearer am_us_\u00ff',
  'Bearer am_',
]

/** Up to three headers with strange statements about the request or its sender. */
export function nastyHeaders(draw: Draw): Record<string, string> {
  const names = [draw.one(NAMES), ...draw.several(2, () => draw.one(NAMES))]
  return Object.fromEntries(names.map((name) => [name, draw.one(HEADERS[name] ?? [''])]))
}

export function nastyIdempotencyKey(draw: Draw): string {
  return draw.one(IDEMPOTENCY_KEYS)
}

export function nastyAuthorization(draw: Draw): string {
  return draw.one(AUTHORIZATIONS)
}
