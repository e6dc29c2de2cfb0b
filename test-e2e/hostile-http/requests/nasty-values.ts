import type { Draw } from './draw.ts'

const LONG = 'x'.repeat(5_000)

/** Texts that are known to break parsers, databases, logs or templates. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\u0000',
  'a\u0000b',
  'line one\r\nBcc: someone@else.test',
  '\ud800',
  'half a pair \udfff',
  '\u202eright to left',
  '\u200b',
  '\ufeff',
  '\ufffe\uffff',
  'ﬀıſÅ',
  'é'.normalize('NFD'),
  '👩‍👩‍👧‍👦'.repeat(40),
  LONG,
  'null',
  'true',
  'NaN',
  '-0',
  '1e309',
  '9'.repeat(400),
  '0x7f',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '\\',
  '%',
  '%00',
  '%_%',
  '$1',
  '{{7*7}}',
  `\${7*7}`,
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'http://169.254.169.254/latest/',
  'javascript:alert(1)',
  'a@b',
  '@',
  '<>',
  '<a@b>, <c@d>',
  '"a" <a@b.test>',
  'a@[127.0.0.1]',
  'a@xn--',
  `${'a'.repeat(64)}@${'b.'.repeat(120)}test`,
  '[',
  '["a"',
  '{}',
  ',,,',
  '2026-13-45T99:99:99Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999+23:59',
  '2026-02-30T00:00:00Z',
  'am_us_x',
  'a.b.c',
  '00000000-0000-0000-0000-000000000000',
  'ep_000000000000000000000000000',
]

/** Names of members that every object in the language already has. */
export const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', '__defineGetter__']

const SCALARS: readonly unknown[] = [null, true, false, 0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324]

export function nastyText(draw: Draw): string {
  return draw.one(TEXTS)
}

/** Any JSON value; most are wrong for any member. */
export function nastyValue(draw: Draw): unknown {
  switch (draw.below(6)) {
    case 0:
    case 1:
      return nastyText(draw)
    case 2:
      return draw.one(SCALARS)
    case 3:
      return draw.several(3, () => draw.one([nastyText(draw), draw.one(SCALARS)]))
    case 4:
      return nested(2 + draw.below(200))
    default:
      return nastyObject(draw)
  }
}

/** An object with odd keys and values. Created from entries, so that `__proto__` is an ordinary key. */
export function nastyObject(draw: Draw): Record<string, unknown> {
  return Object.fromEntries(
    draw.several(4, () => [
      draw.chance(0.5) ? draw.one(INHERITED) : nastyText(draw),
      draw.chance(0.5) ? nastyText(draw) : draw.one(SCALARS),
    ]),
  )
}

function nested(depth: number): unknown {
  let value: unknown = 'bottom'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { it: value }
  return value
}

/** Bodies that are no JSON object, or only nearly. */
const BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  'null',
  '[]',
  '"text"',
  '7',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '{"a":1}{"b":2}',
  '{"a":NaN}',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"a":\u0001}',
  '\ufeff{}',
  '{"__proto__":{"name":"polluted","admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"name":"a","name":"b"}',
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  Buffer.from('{"name":"\xc3\x28\xff"}', 'latin1'),
  Buffer.from('{}', 'utf16le'),
  'a=1&b=2',
  '<xml/>',
  `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  `{"a":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
  `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
]

export function nastyBody(draw: Draw): Buffer {
  return Buffer.from(draw.one(BODIES))
}

/** Path segments as they are sent: oddly encoded, or naming something other than they seem to. */
const SEGMENTS: readonly string[] = [
  '%00',
  '%',
  '%zz',
  '%c3%28',
  '%2e%2e',
  '..',
  '.',
  '%2F',
  '%252F',
  'a%0d%0aX-Injected:1',
  '%F0%9F%92%A9',
  '%ED%A0%80',
  'a'.repeat(4_000),
  '+',
  '%20',
  '*',
  ';a=b',
  '<x@y>',
  '{inbox_id}',
  '__proto__',
  'constructor',
  'null',
  "'",
  '\\',
  '|',
]

export function nastySegment(draw: Draw): string {
  return draw.chance(0.7) ? draw.one(SEGMENTS) : encodeURIComponent(`${nastyText(draw).toWellFormed()}.`)
}
