import { decodeCharset, decodeLines } from '../../src/decode/charset.ts'
import { decodeWords } from '../../src/decode/encoded-words.ts'
import { unflow } from '../../src/decode/flowed.ts'
import {
  decodeTransfer,
  decodeTransferStream,
  type TransferEncoding,
  transferEncoding,
} from '../../src/decode/transfer.ts'
import { parseDate } from '../../src/headers/date.ts'
import { parseParameterized } from '../../src/headers/parameters.ts'
import { parse } from '../../src/index.ts'
import { mailOf } from '../fixture.ts'

function decoded(body: Buffer, encoding: TransferEncoding): string {
  return Buffer.concat([...decodeTransfer(body, encoding)]).toString()
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('decodeWords', () => {
  it.each([
    ['no words', 'no words'],
    ['=?utf-8?Q?caf=C3=A9?=', 'café'],
    ['=?UTF-8?b?Y2Fmw6k=?=', 'café'],
    ['=?iso-8859-1?q?caf=E9_au_lait?= today', 'café au lait today'],
    ['=?utf-8?q?a?= =?utf-8?q?b?=', 'ab'],
    ['=?utf-8?q?a?= b =?utf-8?q?c?=', 'a b c'],
    ['=?utf-8?q?=C3?= =?utf-8?q?=A9?=', 'é'],
    ['=?utf-8?b?w6?= =?iso-8859-1?q?=E9?=', '\ufffdé'],
    ['=?utf-8*en?q?hi?=', 'hi'],
    ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=', '日本'],
    ['=?x-unknown?q?caf=E9?=', 'café'],
    ['=?utf-7?q?+AOk-?=', '+AOk-'],
    ['=?utf-8?x?no?= =?', '=?utf-8?x?no?= =?'],
    ['=?utf-8?q?unclosed', '=?utf-8?q?unclosed'],
  ])('%s', (input, output) => {
    expect(decodeWords(input)).toBe(output)
  })
})

describe('a header field', () => {
  it.each([
    ['=?iso-8859-1?Q?Gr\xfc\xdfe?=', 'Grüße'],
    ['=?windows-1251?Q?\xcf\xf0\xe8=E2=E5=F2?=', 'Привет'],
    ['=?utf-8?Q?Gr\xc3\xbc=C3=9Fe?=', 'Grüße'],
    ['\xfcber =?iso-8859-1?Q?Gr\xfc\xdfe?= \xfcber', 'über Grüße über'],
    ['=?iso-8859-1?B?R3L8\xfc?=', 'Grü'],
  ])('decodes raw bytes in and around encoded words once: %j', (value, subject) => {
    const raw = Buffer.from(`Subject: ${value}\r\n\r\n`, 'latin1')
    expect(parse(raw)).toMatchObject({ subject, headers: { Subject: subject } })
  })

  // The last bytes of their UTF-8 are 0xA0, a no-break space in Latin-1, and 0x85, a line break there.
  const characters = ['à', '你', 'Р', 'Š', '😠', 'Å', 'х', '充']

  it.each(characters)('may begin and end in a raw %s, folded or not', (char) => {
    for (const blanks of ['', ' ', '\t', ' \r\n ', '\r\n\t', '\n ', '\r\n \r\n ']) {
      const raw = Buffer.from(`Subject:${blanks}${char} a ${char}${blanks}\r\nX-Other: b\r\n\r\n`)
      const subject = `${char} a ${char}`
      expect(parse(raw)).toMatchObject({ subject, headers: { Subject: subject, 'X-Other': 'b' } })
    }
    expect(parse(Buffer.from(`Subject: ${char}\r\n ${char}\r\n\r\n`)).subject).toBe(`${char} ${char}`)
  })

  it.each(characters)('keeps a raw %s at the end of addresses and parameters', (char) => {
    const name = `b${char}`
    const types = [`attachment; filename=${name}`, `attachment; filename="${name}"`, `attachment; filename = ${name} `]
    for (const disposition of types) {
      const raw = mailOf(`To: a@x.test (${name})`, `Cc: ${name}`, `Content-Disposition: ${disposition}`, '', 'x')
      expect(parse(raw)).toMatchObject({
        to: [`${name} <a@x.test>`],
        cc: [name],
        attachments: [{ filename: name }],
      })
    }
    const coded = [...Buffer.from(name)].map((byte) => `%${byte.toString(16)}`).join('')
    const { parameters } = parseParameterized(
      `attachment; filename*0*=utf-8''a; filename*1*=${coded}; other*=''${coded}`,
    )
    expect([...parameters.values()]).toEqual([`a${name}`, name])
  })
})

describe('decodeCharset', () => {
  it.each([
    ['utf-8', 'c3a9', 'é'],
    ['utf-8', 'e9', '\ufffd'],
    ['us-ascii', 'c3a9', 'é'],
    ['us-ascii', 'e9', 'é'],
    [undefined, '80', '€'],
    ['shift_jis', '93fa967b', '日本'],
    ['gb2312', 'c4e3bac3', '你好'],
    ['ks_c_5601-1987', 'c7d1', '한'],
    ['cp850', '82', 'é'],
    ['utf-7', '2b414f6b2d', '+AOk-'],
    ['UTF7-imap', '26414f6b2d', '&AOk-'],
    ['unicode-1-1-utf-7', 'e9', 'é'],
    ['hex', '6869', 'hi'],
    ['utf-16le', 'e900', 'é'],
    [' UTF-8 ', '610062', 'ab'],
    ['utf-16le', '00d8', '\ufffd'],
  ])('%s %s', (charset, hex, text) => {
    expect(decodeCharset(Buffer.from(hex, 'hex'), charset)).toBe(text)
  })
})

describe('decodeLines', () => {
  it.each(['utf-8', 'utf-16le', 'utf-16', 'iso-2022-jp', 'utf-7', undefined])(
    'ends every line with a line feed in %s',
    (charset) => {
      const text = 'a\r\nb\rc\nd\r\r\n\r\n'
      const bytes = Buffer.from(text, charset?.startsWith('utf-16') ? 'utf16le' : 'latin1')
      expect(decodeLines(bytes, charset)).toBe('a\nb\nc\nd\n\n\n')
      expect(bytes.includes('\r')).toBe(true)
    },
  )
})

describe('parseDate', () => {
  it.each([
    ['Mon, 2 Mar 2026 09:15:04 +0100', '2026-03-02T08:15:04.000Z'],
    ['2 Mar 2026 09:15 -0530 (comment)', '2026-03-02T14:45:00.000Z'],
    ['Mon, 2 March 2026 09:15:04 EST', '2026-03-02T14:15:04.000Z'],
    ['Mon, 02 Mar 26 09:15:04 GMT', '2026-03-02T09:15:04.000Z'],
    ['2026-03-02T09:15:04Z', '2026-03-02T09:15:04.000Z'],
    ['Mon, 2 Mar 2026 09:15:04', '2026-03-02T09:15:04.000Z'],
  ])('%s', (input, output) => {
    expect(parseDate(input)?.toISOString()).toBe(output)
  })

  it.each([
    '',
    'yesterday',
    '32 Mar 2026 09:15:04 +0000',
    '2 Foo 2026 09:15:04 +0000',
    '2 Mar 2026 25:00:00 +0000',
    '2 Mar 1901 09:15:04 +0000',
  ])('finds no instant in "%s"', (input) => {
    expect(parseDate(input)).toBeUndefined()
  })
})

describe('parseParameterized', () => {
  it.each([
    ['text/plain name=a.txt', 'a.txt'],
    ['text/plain\t name = "a b.txt"; x=y', 'a b.txt'],
    ['text/plain; name="a;b.txt"', 'a;b.txt'],
    ['text/plain; NAME=plain.txt ; x=y', 'plain.txt'],
    ['text/plain; name="a \\"b\\".txt"', 'a "b".txt'],
    ['text/plain; name="C:\\dir\\a.txt"', 'C:\\dir\\a.txt'],
    ["text/plain; name*=utf-8'en'caf%C3%A9.txt", 'café.txt'],
    ["text/plain; name*1*=%A9.txt; name*0*=utf-8''caf%C3", 'café.txt'],
    ['text/plain; name*0="a"; name*1="b.txt"', 'ab.txt'],
    ["text/plain; name*=iso-8859-1''caf%E9; name=plain", 'café'],
    ['text/plain; name="=?utf-8?q?caf=C3=A9?="', 'café'],
    ['text/plain; name="unclosed', 'unclosed'],
    ["text/plain; name*='", "'"],
  ])('%s', (input, name) => {
    const { value, parameters } = parseParameterized(input)
    expect([value, parameters.get('name')]).toEqual(['text/plain', name])
  })
})

describe('a Content-Transfer-Encoding', () => {
  it.each([
    ['base64', 'base64'],
    ['Base64; x=y', 'base64'],
    ['QUOTED-PRINTABLE', 'quoted-printable'],
    ['x-uuencode', 'uuencode'],
    ['X-UUE', 'uuencode'],
    ['8bit', 'none'],
    ['x-unknown', 'none'],
    ['', 'none'],
  ])('%j is %s', (field, encoding) => {
    expect(transferEncoding(field)).toBe(encoding)
  })
})

describe('decodeTransfer', () => {
  it.each([
    ['base64', 'aGVs\r\nbG8=', 'hello'],
    ['base64', 'aGVsbG8=aGVsbG8=', 'hellohello'],
    ['base64', `aGVsbG8=\r\n${'aGVs\r\n'.repeat(4)}bG8=\r\n`, `hello${'hel'.repeat(4)}lo`],
    ['base64', 'aGVsbG8', 'hello'],
    ['base64', '====aGVs====bG8', 'hello'],
    ['base64', '!!!', ''],
    ['quoted-printable', 'a=3D=\r\nb = \t\r\nc=zz=', 'a=b c=zz'],
    ['quoted-printable', '', ''],
    ['quoted-printable', 'a \t=\r\n b  \r\n\tc \nd ', 'a \t b\r\n\tc\nd'],
    ['quoted-printable', 'a= \t\r\nb=\nc=', 'abc'],
    ['quoted-printable', '=3d=3D=20\r\n=', '== \r\n'],
    ['quoted-printable', '== =4 =G0 =0G\r\n', '== =4 =G0 =0G\r\n'],
    ['uuencode', 'begin 644 a.txt\n%:&5L;&\\\n`\nend\n', 'hello'],
    ['uuencode', '\r\nbegin 644 a.txt\r\n%:&5L;&\\\r\n`\r\nend\r\nmore', 'hello'],
    ['uuencode', 'begin 644 a.txt\n#86)C\n#9&5F\n \nend', 'abcdef'],
    ['uuencode', 'begin 644 a.txt\n$86)C9\n`\nend', 'abcd'],
    ['uuencode', 'begin 644 cut', 'begin 644 cut'],
    ['uuencode', 'not encoded\nat all', 'not encoded\nat all'],
    ['uuencode', '', ''],
    ['none', 'as it is', 'as it is'],
  ] as const)('%s %j', (encoding, input, output) => {
    expect(decoded(Buffer.from(input), encoding)).toBe(output)
  })

  const words = 'wörds and blanks '.repeat(20_000)
  const code = (line: string): string =>
    Buffer.from(line)
      .toString('latin1')
      .replaceAll(/[\x80-\xff=]/g, (char) => `=${char.charCodeAt(0).toString(16)}`)
  const uuencoded = (bytes: Buffer): string => {
    const char = (value: number): string => String.fromCharCode((value & 0x3f || 0x40) + 0x20)
    const lines: string[] = []
    for (let at = 0; at < bytes.length; at += 45) {
      const line = bytes.subarray(at, at + 45)
      let code = char(line.length)
      for (let group = 0; group < line.length; group += 3) {
        const bits = ((line[group] ?? 0) << 16) | ((line[group + 1] ?? 0) << 8) | (line[group + 2] ?? 0)
        code += [18, 12, 6, 0].map((shift) => char(bits >> shift)).join('')
      }
      lines.push(code)
    }
    return ['begin 644 words.txt', ...lines, '`', 'end', ''].join('\r\n')
  }
  const long = [
    ['uuencode', 'lines', uuencoded(Buffer.from(words)), words],
    ['quoted-printable', 'a line without end', `${code(words)}.`, `${words}.`],
    ['quoted-printable', 'lines', `${code('ö'.repeat(20))}=\r\n`.repeat(5_000), 'ö'.repeat(100_000)],
    ['base64', 'padded runs', 'aGVsbG8='.repeat(50_000), 'hello'.repeat(50_000)],
    ['base64', 'a line without end', Buffer.from(words).toString('base64'), words],
    [
      'base64',
      'lines',
      Buffer.from(words)
        .toString('base64')
        .replaceAll(/.{1,76}/g, '$&\r\n'),
      words,
    ],
  ] as const

  it.each(long)('decodes %s in several pieces: %s', (encoding, _, input, output) => {
    expect(decoded(Buffer.from(input), encoding)).toBe(output)
  })

  it.each(long)('decodes %s that arrives in chunks, wherever they are cut: %s', async (encoding, _, input, output) => {
    for (const size of [61, 997, 65_537]) {
      const pieces: Buffer[] = []
      for await (const piece of decodeTransferStream(chunksOf(Buffer.from(input), size), encoding)) pieces.push(piece)
      expect(Buffer.concat(pieces).toString() === output).toBe(true)
    }
  })

  it('joins flowed lines without their space when DelSp says so', () => {
    expect(unflow('日本 \n語\n> a \nb', true)).toBe('日本語\n> a\nb')
  })
})

describe('attachments', () => {
  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\dir\\\\a.exe', 'a.exe'],
    ['a\u0007b.txt', 'a b.txt'],
    ['', undefined],
  ])('reduces the file name %j to its last segment', (given, filename) => {
    const raw = mailOf('Content-Type: application/x', `Content-Disposition: attachment; filename="${given}"`, '', 'x')
    expect(parse(raw).attachments[0]?.filename).toBe(filename)
  })
})

describe('message ids', () => {
  it.each([
    ['<a@b>', '<a@b>'],
    ['a@b', '<a@b>'],
    ['Your mail of Monday <a@b> <c@d>', '<a@b>'],
    ['<>', undefined],
    ['no id here', undefined],
    [`<${'x'.repeat(1_000)}@y>`, undefined],
  ])('reads Message-ID %s', (value, id) => {
    expect(parse(mailOf(`Message-ID: ${value}`, '', '')).messageId).toBe(id)
  })
})
