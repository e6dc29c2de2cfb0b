import { simpleParser } from 'mailparser'
import { parse, parseHeadersOnly } from '../../src/index.ts'
import { bytesOf, fixture, mailOf } from '../fixture.ts'

describe('parse', () => {
  it('reads a plain mail', () => {
    const mail = parse(fixture('plain'))
    expect(mail).toMatchObject({
      from: 'Ada Ray <ada@customer.test>',
      to: ['desk@example.test'],
      cc: [],
      subject: 'Order 1182',
      messageId: '<CAF3x.81@mail.customer.test>',
      references: [],
      date: new Date('2026-03-02T08:15:04Z'),
      text: 'Where is it?\n',
      attachments: [],
      automation: { list: false },
      truncated: false,
    })
    expect(mail.html).toBeUndefined()
  })

  it('unfolds headers and joins repeated ones with a newline, under the name as written', () => {
    const { headers } = parse(fixture('plain'))
    expect(headers['Received']).toBe(
      'from mx.customer.test by mx.example.test; Mon, 2 Mar 2026 08:15:05 +0000\n' +
        'from [10.0.0.7] by mx.customer.test; Mon, 2 Mar 2026 08:15:04 +0000',
    )
    expect(Object.keys(headers)).toContain('Message-ID')
  })

  it('reads both bodies of multipart/alternative, each decoded from its own encoding and charset', () => {
    expect(parse(fixture('alternative'))).toMatchObject({
      text: 'Grüße, a long line that was broken softly.',
      html: '<p>Grüße</p>',
      attachments: [],
    })
  })

  it('decodes addresses, group members and encoded words', () => {
    expect(parse(fixture('alternative'))).toMatchObject({
      from: '"Ray, Ada" <ada@customer.test>',
      to: ['Jürgen <j@example.test>', 'a@example.test', 'B <b@example.test>'],
      cc: [],
      replyTo: ['Sales <sales@customer.test>'],
      subject: 'Grüße aus Köln',
      inReplyTo: '<two@example.test>',
      references: ['<one@example.test>', '<two@example.test>'],
    })
  })

  it('lists every leaf that is not a body as an attachment, a nested message as one', () => {
    const mail = parse(fixture('mixed-related'))
    expect(mail.text).toBe('See the logo.\nA footer of the list.')
    expect(mail.html).toBe('<p>See <img src="cid:logo@x"></p>')
    expect(mail.attachments.map(({ start: _, end: __, encoding: ___, ...info }) => info)).toEqual([
      { filename: 'logo.png', contentType: 'image/png', disposition: 'inline', contentId: 'logo@x', size: 8 },
      { contentType: 'text/calendar', size: 30 },
      { filename: 'notes.txt', contentType: 'text/plain', disposition: 'inline', size: 13 },
      { filename: 'Prüfung 2026.pdf', contentType: 'application/pdf', disposition: 'attachment', size: 8 },
      { contentType: 'message/rfc822', size: expect.any(Number) },
    ])
  })

  it("reports the offsets of an attachment's bytes", () => {
    const raw = fixture('mixed-related')
    const { attachments } = parse(raw)
    const contents = attachments.map((attachment) => bytesOf(raw, attachment))
    expect(contents.map(({ length }) => length)).toEqual(attachments.map(({ size }) => size))
    expect(contents[3]?.toString()).toBe('%PDF-1.4')
    expect(contents[4]?.toString()).toContain('Inner words.')
  })

  it('decodes a base64 body and detects bulk mail', () => {
    expect(parse(fixture('html-only'))).toMatchObject({
      html: '<html><head><title>x</title></head><body><p>Sale &euro;1</p></body></html>',
      automation: { list: true, precedence: 'bulk' },
    })
  })

  it('joins flowed text but not its quotes and signature', () => {
    expect(parse(fixture('flowed'))).toMatchObject({
      text: 'This paragraph goes on in one line.\n> quoted words go on too\n>> deeper\n\n-- \nAda\n',
      automation: { autoSubmitted: 'auto-replied', list: false },
    })
  })

  it('shows the signed part and lists the signature', () => {
    const mail = parse(fixture('signed'))
    expect(mail.text).toBe('Signed words.')
    expect(mail.attachments).toMatchObject([{ contentType: 'application/pgp-signature', filename: 'signature.asc' }])
  })

  it('guesses the charset of raw 8-bit headers and of bodies that name an unknown one', () => {
    expect(parse(fixture('latin1-headers'))).toMatchObject({
      from: 'Jürgen <j@example.test>',
      subject: 'Grüße',
      text: 'Über\n',
    })
  })

  it.each(['plain', 'alternative', 'html-only'])('agrees with mailparser on %s', async (name) => {
    const raw = fixture(name)
    const [mine, theirs] = [parse(raw), await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true })]
    expect(mine.subject).toBe(theirs.subject)
    expect(mine.messageId).toBe(theirs.messageId)
    expect(mine.text?.trimEnd() ?? '').toBe(theirs.text?.trimEnd())
    expect(mine.html?.trimEnd()).toBe(theirs.html === false ? undefined : theirs.html?.trimEnd())
  })
})

describe('body selection', () => {
  const part = (type: string, body: string, ...headers: string[]): string[] => [
    `Content-Type: ${type}`,
    ...headers,
    '',
    body,
  ]
  const multi = (type: string, ...parts: string[][]): string[] => {
    const boundary = `b${Math.abs(parts.flat().join().length)}${type.at(-1)}`
    return [
      `Content-Type: multipart/${type}; boundary=${boundary}`,
      '',
      ...parts.flatMap((lines) => [`--${boundary}`, ...lines]),
      `--${boundary}--`,
    ]
  }
  const plain = part('text/plain', 'words')
  const html = part('text/html', '<p>words</p>')
  const pdf = part('application/pdf', 'x', 'Content-Disposition: attachment')

  it.each([
    ['a single text', plain, 'words', undefined, 0],
    ['a single html', html, undefined, '<p>words</p>', 0],
    ['a single file', pdf, undefined, undefined, 1],
    [
      'a text that is an attachment',
      part('text/plain', 'x', 'Content-Disposition: attachment'),
      undefined,
      undefined,
      1,
    ],
    ['text and html side by side', multi('mixed', plain, html), 'words', '<p>words</p>', 0],
    ['two texts', multi('mixed', plain, part('text/plain', 'footer')), 'words\nfooter', undefined, 0],
    [
      'Apple: text around files',
      multi('mixed', plain, pdf, part('text/plain', 'more\n'), pdf, part('text/plain', 'end')),
      'words\nmore\nend',
      undefined,
      2,
    ],
    [
      'text around a text file',
      multi('mixed', plain, part('text/plain; name=notes.txt', 'x'), part('text/plain', 'end')),
      'words\nend',
      undefined,
      1,
    ],
    [
      'alternatives and a footer',
      multi('mixed', multi('alternative', plain, html), plain),
      'words\nwords',
      '<p>words</p>',
      0,
    ],
    [
      'the last html of alternatives',
      multi('alternative', part('text/html', 'old'), html),
      undefined,
      '<p>words</p>',
      1,
    ],
    [
      'Apple: html around a file',
      multi('alternative', plain, multi('mixed', html, pdf, part('text/html', 'tail'))),
      'words',
      '<p>words</p>\ntail',
      1,
    ],
    ['related without html', multi('related', plain, part('text/plain', 'resource')), 'words', undefined, 1],
    [
      'alternative inside related',
      multi('related', multi('alternative', plain, html), pdf),
      'words',
      '<p>words</p>',
      1,
    ],
    ['a digest of messages', multi('digest', ['', 'Subject: one', '', 'x']), undefined, undefined, 1],
    [
      'encrypted mail',
      multi('encrypted', part('application/pgp-encrypted', 'Version: 1'), pdf),
      undefined,
      undefined,
      2,
    ],
    ['an unknown multipart', multi('strange', plain, pdf), 'words', undefined, 1],
    ['a broken content type', part('text', 'words'), 'words', undefined, 0],
    ['no content type', ['', 'words'], 'words', undefined, 0],
    ['a multipart without parts', ['Content-Type: multipart/mixed; boundary=x', '', 'words'], 'words', undefined, 0],
    ['a multipart that never ends', multi('mixed', plain, pdf).slice(0, -1), 'words', undefined, 1],
    [
      'a multipart of no kind',
      ['Content-Type: multipart/*; boundary=b', '', '--b', ...plain, '--b', ...pdf, '--b--'],
      'words',
      undefined,
      1,
    ],
    [
      'a boundary without a semicolon',
      ['Content-Type: multipart/mixed boundary="b"', '', '--b', ...plain, '--b', ...pdf, '--b--'],
      'words',
      undefined,
      1,
    ],
  ])('%s', (_, lines, text, body, attachments) => {
    const mail = parse(mailOf(...lines))
    expect([mail.text, mail.html, mail.attachments.length]).toEqual([text, body, attachments])
  })

  it('finds the outer parts after an inner multipart that is never closed', () => {
    const inner = multi('alternative', plain, html).slice(0, -1)
    const mail = parse(mailOf(...multi('mixed', inner, pdf)))
    expect([mail.text, mail.html]).toEqual(['words', '<p>words</p>'])
    expect(mail.attachments).toMatchObject([{ contentType: 'application/pdf', size: 1 }])
  })

  it('accepts blanks that a relay added to a delimiter', () => {
    const mail = parse(
      mailOf(...multi('mixed', plain, pdf).map((line) => (line.startsWith('--') ? `${line} \t` : line))),
    )
    expect(mail.text).toBe('words')
    expect(mail.attachments).toMatchObject([{ contentType: 'application/pdf', size: 1 }])
  })

  it('does not treat a line as a delimiter that only begins like one', () => {
    const mail = parse(mailOf('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'a', '--bc', 'd', '--b--'))
    expect(mail).toMatchObject({ text: 'a\n--bc\nd', attachments: [] })
  })

  it('lists a part that has only a header', () => {
    const header = ['Content-Type: image/gif', 'Content-Disposition: attachment; filename=a.gif']
    const mail = parse(
      mailOf('Content-Type: multipart/mixed; boundary=b', '', '--b', ...header, '--b', '', 'x', '--b--'),
    )
    expect(mail).toMatchObject({ text: 'x', attachments: [{ filename: 'a.gif', size: 0 }] })
  })

  it.each(['--b', '--b\r\n', '--b\r\n\r\n'])('makes no part of a delimiter at the very end: %j', (end) => {
    const mixed = ['Content-Type: multipart/mixed; boundary=b', '', '--b', ...plain, '--b', ...pdf, end].join('\r\n')
    expect(parse(Buffer.from(mixed))).toMatchObject({ text: 'words', attachments: [{ size: 1 }], truncated: false })
  })

  it('joins the texts of a mail up to the limit of a body', () => {
    const texts = multi('mixed', part('text/plain', '12345\r\n'), part('text/plain', '6789'), part('text/plain', '0'))
    expect(parse(mailOf(...texts), { bodyBytes: 9 })).toMatchObject({ text: '12345\n67', truncated: true })
    expect(parse(mailOf(...texts), { bodyBytes: 12 })).toMatchObject({ text: '12345\n6789\n0', truncated: false })
  })

  it('tells mails apart that differ in their second text', () => {
    const [one, two] = ['a', 'b'].map((end) => parse(mailOf(...multi('mixed', plain, part('text/plain', end)))))
    expect(one?.digest).not.toBe(two?.digest)
  })

  it('accepts bare line feeds', () => {
    const mail = parse(Buffer.from(fixture('mixed-related').toString().replaceAll('\r\n', '\n')))
    expect(mail.text).toBe('See the logo.\nA footer of the list.')
    expect(mail.attachments).toHaveLength(5)
  })
})

describe('parseHeadersOnly', () => {
  it('reads the header of mail whose body cannot be parsed', () => {
    const header = parseHeadersOnly(Buffer.concat([fixture('alternative').subarray(0, 900), Buffer.alloc(5_000, 0xff)]))
    expect(header).toMatchObject({
      subject: 'Grüße aus Köln',
      messageId: '<alt@customer.test>',
      inReplyTo: '<two@example.test>',
    })
    expect(header.headers['From']).toBe('"Ray, Ada" <ada@customer.test>')
  })

  it('returns empty values for bytes that are not a mail', () => {
    expect(parseHeadersOnly(Buffer.from([0, 1, 2, 255]))).toMatchObject({ headers: {}, to: [], references: [] })
  })
})
