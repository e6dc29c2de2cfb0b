import { byLength, growthOf, MOST_GROWTH } from '@restante/service/testing'
import {
  extractReply,
  extractReplyHtml,
  htmlToText,
  parse,
  parseHeadersOnly,
  preview,
  readMail,
  replyHtml,
  replyText,
} from '../../src/index.ts'
import { fixture, mailOf } from '../fixture.ts'

const MEGABYTE = 1024 * 1024
/** How much is read of each hostile text. */
const MUCH = byLength({ short: MEGABYTE / 8, long: MEGABYTE })
const MOST = byLength({ short: MEGABYTE, long: 16 * MEGABYTE })
/** Bytes from one place where a mail is cut off to the next: a prime, so that the places fall anywhere in a line. */
const CUTS_APART = byLength({ short: 7, long: 1 })
const filled = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length))

describe('parse limits', () => {
  it('stops at the number of parts and keeps what came before', () => {
    const parts = Array.from({ length: 50 }, (_, i) => ['--b', 'Content-Type: image/gif', '', `${i}`]).flat()
    const mail = parse(mailOf('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'words', ...parts, '--b--'), {
      parts: 11,
    })
    expect(mail).toMatchObject({ text: 'words', truncated: true })
    expect(mail.attachments).toHaveLength(9)
  })

  it('treats parts that are nested too deeply as one attachment', () => {
    const open = Array.from({ length: 40 }, (_, i) => [
      `Content-Type: multipart/mixed; boundary=b${i}`,
      '',
      `--b${i}`,
    ]).flat()
    const mail = parse(mailOf(...open, '', 'words'), { depth: 5 })
    expect(mail).toMatchObject({ truncated: true, attachments: [{ contentType: 'multipart/mixed' }] })
    expect(parse(mailOf(...open, '', 'words'), { depth: 50 })).toMatchObject({ truncated: false, text: 'words' })
  })

  it('reads a bounded number of header fields and bytes, and still finds the body', () => {
    const raw = mailOf(
      'Subject: first',
      ...Array.from({ length: 99 }, (_, i) => `X-${i}: ${'y'.repeat(50)}`),
      '',
      'words',
    )
    for (const limits of [{ headerFields: 10 }, { headerBytes: 500 }]) {
      const mail = parse(raw, limits)
      expect(mail).toMatchObject({ subject: 'first', text: 'words', truncated: true })
      expect(Object.keys(mail.headers).length).toBeLessThan(11)
    }
  })

  it('keeps the newest references', () => {
    const mail = parse(mailOf('References: <1@x> <2@x> <3@x>', '', ''), { references: 2 })
    expect(mail).toMatchObject({ references: ['<2@x>', '<3@x>'], truncated: true })
  })

  it('truncates bodies and address lists', () => {
    const mail = parse(mailOf('To: a@x.y, b@x.y, c@x.y', '', 'words'), { bodyBytes: 3, addresses: 2 })
    expect(mail).toMatchObject({ text: 'wor', to: ['a@x.y', 'b@x.y'], truncated: true })
  })
})

describe('a hostile mail', () => {
  const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7_919 + (i >> 3)) & 0xff))
  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['only NULs', Buffer.alloc(1_000)],
    ['noise', bytes],
    ['noise in a header', Buffer.concat([Buffer.from('Subject: '), bytes, Buffer.from('\r\n\r\nx')])],
    [
      'noise in a multipart',
      Buffer.concat([Buffer.from('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'), bytes]),
    ],
    ['only line feeds', Buffer.from('\n'.repeat(1_000))],
    ['only delimiters', mailOf('Content-Type: multipart/mixed; boundary=b', '', ...Array(5_000).fill('--b'))],
    ['an empty boundary', mailOf('Content-Type: multipart/mixed; boundary=""', '', '--', 'x')],
    [
      'a boundary within itself',
      mailOf(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        '',
        'x',
        '--b--',
        '--b--',
      ),
    ],
    [
      'a part cut off in its header',
      mailOf('Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/pl'),
    ],
    ['headers named like object members', mailOf('__proto__: x', 'constructor: y', 'toString: z', '', 'x')],
  ])('of %s is read without throwing', (_, raw) => {
    const mail = readMail(raw)
    expect(parseHeadersOnly(raw).references).toEqual(mail.references)
    expect(JSON.stringify(mail)).not.toContain('\\u0000')
  })

  it('is read without throwing wherever it is cut off', () => {
    const raw = fixture('mixed-related')
    for (let end = 0; end < raw.length; end += CUTS_APART)
      expect(typeof readMail(raw.subarray(0, end)).digest).toBe('string')
  })

  it('does not set members of Object.prototype', () => {
    const { headers } = parse(mailOf('__proto__: x', '', ''))
    expect(Object.entries(headers)).toEqual([['__proto__', 'x']])
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
  })
})

/** Expects that reading takes time proportional to what is read. */
function inTime<Input>(size: number, make: (size: number) => Input, read: (input: Input) => unknown): void {
  expect(growthOf(size, make, read)).toBeLessThan(MOST_GROWTH)
}

describe('megabytes of', () => {
  const parts = (head: string, unit: string, length = MOST): string =>
    Array.from({ length: length / 40_000 }, () => `--b\r\n${head}${filled(unit, 40_000)}\r\n\r\n`).join('')
  const mixed = 'Content-Type: multipart/mixed; boundary=b'
  const boundary = 'x'.repeat(200)
  const nested = Array.from(
    { length: 29 },
    (_, i) => `Content-Type: multipart/mixed; boundary=${boundary}${i}\r\n\r\n--${boundary}${i}\r\n`,
  ).join('')

  it.each([
    ['base64 that is padded after every character', ['Content-Transfer-Encoding: base64'], 'A='],
    ['base64 that is padded after every group', ['Content-Transfer-Encoding: base64'], 'AAAA='],
    ['UTF-7', ['Content-Type: text/plain; charset=utf-7'], '+AGE-'],
    ['UTF-7 of IMAP', ['Content-Type: text/plain; charset=utf-7-imap'], '&AGE-'],
    ['lines that begin like a delimiter', [mixed], '--bx\r\n'],
    ['delimiters that close', [`${mixed}\r\n\r\n--b\r\n\r\nx\r\n--b--`], '--b--\r\n'],
    ['delimiters that open and close', [`${mixed}\r\n\r\n--b\r\n${mixed}`], '--b\r\n--b--\r\n'],
    ['lines that begin like thirty delimiters', [nested], `--${boundary}y\r\n`],
    ['encoded words in the headers of parts', [mixed], parts('Content-Type: a/b; name="', '=?utf-8?q?a?= ')],
    ['parameters in the headers of parts', [mixed], parts('Content-Type: a/b; ', 'a=x; a*1=x; ')],
    ['encoded parameters in the headers of parts', [mixed], parts("Content-Type: a/b; name*=utf-7''", '+AGE-')],
    ['soft breaks', ['Content-Transfer-Encoding: quoted-printable'], '=\r\n'],
    ['uuencode', ['Content-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 a.txt'], '#86)C\r\n'],
  ])('%s are read in time proportional to them', (_, header, unit) => {
    inTime(MOST, (size) => mailOf(...header, '', filled(unit, size).slice(0, size)), readMail)
  })

  it('headers of parts do not affect the first parts', () => {
    const named = '--b\r\nContent-Type: a/b; name=first\r\n\r\n\r\n'
    const mail = parse(
      mailOf(mixed, '', named + parts('X: ', 'y ', byLength({ short: 8 * MEGABYTE, long: 16 * MEGABYTE })), '--b--'),
    )
    // The others have lost their headers, and are text.
    expect(mail).toMatchObject({ truncated: true, attachments: [{ filename: 'first' }] })
  })
})

describe('much of', () => {
  it.each([
    ['spaces', ' '],
    ['empty lines', '\n'],
    ['quotes', '> '],
    ['quoted lines', '> x\n'],
    ['openers', 'On 1 Mar 2026 '],
    ['opening lines', 'On 1 Mar 2026 at 9:10\n'],
    ['attributions', 'On 3 Mar 2026 at 9:10, Bo <bo@x.org> wrote:\n\nx\n'],
    ['attributions in a line', 'On 3 Mar 2026 at 9:10, Bo <bo@x.org> wrote: '],
    ['verbs', ' schrieb a:\n'],
    ['angle brackets', '2026 <<<<<:\n'],
    ['header labels', 'From: x\n'],
    ['dashes', '-'],
    ['dashed lines', `${'-'.repeat(199)}\n`],
    ['underscores', '_____\n'],
    ['signature marks', '-- \n'],
    ['phone signatures', 'Sent from my phone\n'],
    ['forward marks', '---- Forwarded\n'],
    ['dashes alone', '--\n'],
    ['addresses', 'a@b '],
    ['dates and addresses', '2026-03-03 9:10 a@b: '],
    ['open brackets', 'On 1 Mar 2026 at 9:10 <\n'],
    ['verbs in a line', `${'wrote '.repeat(60)}:\n`],
  ])('%s does not stall the text rules', (_, unit) => {
    inTime(MUCH, (size) => filled(unit, size), extractReply)
  })

  it.each([
    ['rules', '_____\n'],
    ['dashes', '--\n'],
    ['names', 'Al\n\n'],
    ['quotes and names', '> x\nAl\n\n'],
    ['closings', 'Regards,\n\n'],
    ['links', 'https://x.org\n\n'],
  ])('%s below a quote does not stall the text rules', (_, unit) => {
    const reply = 'Hello\n\nOn 3 Mar 2026 at 9:10, Bo <bo@x.org> wrote:\n> Hello Al,\n'
    inTime(MUCH, (size) => reply + filled(unit, size), extractReply)
  })

  it.each([
    ['open tags', '<div>'],
    ['closing tags', '</p>'],
    ['open and unrelated closing tags', '<div></p>'],
    ['unclosed tags', '<'],
    ['tags without an end', '<a '],
    ['comments', '<!--'],
    ['attributes', '<p a="b" '],
    ['entities', '&amp;'],
    ['broken entities', '&am'],
    ['nested quotes', '<blockquote>x'],
    ['nested tables', '<table><tr><td>'],
    ['client quotes', '<div class="gmail_quote">x</div>y'],
    ['open client quotes', '<div class="gmail_quote">x'],
    ['client attributions', '<div class="gmail_attr">x</div>'],
    ['containers of quotes', '<div class="yahoo_quoted">On 3 Mar 2026 at 9:10, Bo wrote:<br>x</div>'],
    ['scripts', '<script>x</script'],
    ['list items', '<li>'],
    ['line breaks', 'x<br>'],
    ['preformatted text', '<pre>\n x'],
  ])('%s does not stall the html rules', (_, unit) => {
    inTime(
      MUCH,
      (size) => filled(unit, size),
      (html) => [extractReplyHtml(html), htmlToText(html)],
    )
  })

  it.each([
    ['line breaks', '\n'],
    ['returns', '\r'],
    ['quotes', '> '],
    ['open tags', '<'],
    ['bodies', '<body '],
    ['ends of bodies', '</body '],
    ['blanks', ' '],
  ])('%s does not stall the quote in an answer', (_, unit) => {
    inTime(
      MUCH,
      (size) => ({
        hostile: `${filled(unit, size)}x`,
        html: filled(unit, 5 * size),
        source: { from: filled('"<(a@', size), timestamp: new Date(0) },
      }),
      ({ hostile, html, source }) => [
        replyText(hostile, { ...source, text: hostile }),
        replyText('', { ...source, html }),
        replyHtml(hostile, { ...source, html: hostile }),
      ],
    )
  })

  it.each([
    ['encoded words', 'Subject: ', '=?utf-8?q?a?= '],
    ['open encoded words', 'Subject: ', '=?utf-8?q?'],
    ['commas', 'To: ', ','],
    ['colons', 'To: ', 'a:'],
    ['quotes', 'To: ', '"'],
    ['comments', 'To: ', '('],
    ['angle brackets', 'To: ', '<'],
    ['mailboxes', 'To: ', 'a@b.co, '],
    ['ids', 'References: ', '<a@b> '],
    ['open ids', 'References: ', '<a'],
    ['parameters', 'Content-Type: a/b; ', 'a*0=x; '],
    ['percent signs', "Content-Type: a/b; name*=utf-8''", '%'],
    ['folded lines', 'X: ', 'a\r\n '],
  ])('%s in a header does not stall the parser', (_, start, unit) => {
    inTime(
      MUCH,
      (size) => mailOf(start + filled(unit, size), '', 'x'),
      (raw) => parse(raw, { headerBytes: 2 * MUCH }),
    )
  })

  it.each([
    ['delimiters', 'Content-Type: multipart/mixed; boundary=b', '--b\r\n'],
    ['near delimiters', `Content-Type: multipart/mixed; boundary=${'-'.repeat(70)}`, '\n-----'],
    ['padding', 'Content-Transfer-Encoding: base64', 'A='],
    ['soft breaks', 'Content-Transfer-Encoding: quoted-printable', '=  '],
    ['blanks in a code', 'Content-Transfer-Encoding: quoted-printable', ' '],
    ['lines of blanks', 'Content-Transfer-Encoding: quoted-printable', `${' '.repeat(900)}=\r\n`],
    [
      'unclosed parts',
      'Content-Type: multipart/mixed; boundary=b',
      '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
    ],
    ['flowed lines', 'Content-Type: text/plain; format=flowed; delsp=yes', 'a \n'],
  ])('%s does not stall the parser', (_, header, unit) => {
    inTime(MUCH, (size) => mailOf(header, '', filled(unit, size)), parse)
  })
})

describe('preview', () => {
  it.each([
    ['short\ntext', 'short\ntext'],
    ['', ''],
    ['a'.repeat(300), 'a'.repeat(200)],
    ['🎉'.repeat(300), '🎉'.repeat(200)],
    [`${'a'.repeat(199)}🎉b`, `${'a'.repeat(199)}🎉`],
  ])('%#', (text, expected) => {
    expect(preview(text)).toBe(expected)
  })
})
