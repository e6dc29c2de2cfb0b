import { generateKeyPairSync } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { simpleParser } from 'mailparser'
import {
  compose,
  headerProblem,
  isMadeMessageId,
  isServiceOwnedHeader,
  makeMessageId,
  messageIdFromBytes,
  messageIdsIn,
  type OutgoingMail,
  parse,
  UnsafeMailError,
} from '../../src/index.ts'
import { bytesOf } from '../fixture.ts'

const mail: OutgoingMail = {
  from: { name: 'Desk', address: 'desk@example.test' },
  to: [{ address: 'ada@customer.test' }],
  subject: 'Order',
  text: 'On its way.',
  messageId: '<m-1@example.test>',
  date: new Date('2026-03-02T08:15:04Z'),
}

const composed = async (change: Partial<OutgoingMail>): Promise<string> =>
  (await compose({ ...mail, ...change })).raw.toString()

describe('compose', () => {
  it('composes a message that parses back to its input', async () => {
    const references = Array.from({ length: 40 }, (_, i) => `<reference-${i}@mail.customer.test>`)
    const { raw, messageId } = await compose({
      ...mail,
      from: { name: 'Zoë, Desk', address: 'desk@example.test' },
      to: [{ name: 'Ada "A" Ray', address: 'ada@customer.test' }, { address: 'bo@customer.test' }],
      cc: [{ name: '日本', address: 'cy@customer.test' }],
      replyTo: [{ address: 'replies@example.test' }],
      subject: 'Grüße aus Köln, mit einer Betreffzeile, die länger als eine Zeile ist 🎉',
      text: 'Grüße 🎉\n> \n.\nFrom here\n',
      html: '<p>Grüße</p>',
      inReplyTo: '<reference-39@mail.customer.test>',
      references,
    })
    expect(messageId).toBe('<m-1@example.test>')
    expect(parse(raw)).toMatchObject({
      from: '"Zoë, Desk" <desk@example.test>',
      to: ['"Ada \\"A\\" Ray" <ada@customer.test>', 'bo@customer.test'],
      cc: ['日本 <cy@customer.test>'],
      replyTo: ['replies@example.test'],
      subject: 'Grüße aus Köln, mit einer Betreffzeile, die länger als eine Zeile ist 🎉',
      messageId,
      inReplyTo: '<reference-39@mail.customer.test>',
      references,
      date: mail.date,
      html: '<p>Grüße</p>',
      attachments: [],
    })
    expect(parse(raw).text?.trimEnd()).toBe('Grüße 🎉\n> \n.\nFrom here')
  })

  it('composes a message that another parser reads the same way', async () => {
    const { raw } = await compose({ ...mail, subject: 'Grüße', text: 'Grüße\nzwei', html: '<p>Grüße</p>' })
    const theirs = await simpleParser(raw)
    expect([theirs.subject, theirs.text?.trimEnd(), theirs.html]).toEqual(['Grüße', 'Grüße\nzwei', '<p>Grüße</p>'])
  })

  it('keeps every line within the limit of RFC 5322', async () => {
    const lines = (
      await composed({ subject: 'ü'.repeat(500), text: 'x'.repeat(5_000), html: `<p>${'y'.repeat(5_000)}</p>` })
    ).split('\r\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998)
    expect(lines.some((line) => line.includes('\n'))).toBe(false)
  })

  it.each<[string, Partial<OutgoingMail>]>([
    ['a subject', { subject: 'x'.repeat(4_000) }],
    ['a subject with other words', { subject: `Re: ${'x'.repeat(995)} and more` }],
    ['a custom header', { headers: { 'X-A': 'x'.repeat(4_000) } }],
    ['a custom header with a long name', { headers: { [`X-${'n'.repeat(74)}`]: 'x'.repeat(995) } }],
    ['a custom Reply-To', { headers: { 'Reply-To': `${'a@b.test,'.repeat(200)}c@b.test` } }],
    ['the name of a recipient', { to: [{ name: 'x'.repeat(4_000), address: 'ada@customer.test' }] }],
    ['a name that is quoted', { to: [{ name: '\\'.repeat(900), address: 'ada@customer.test' }] }],
    ['the name of the sender', { from: { name: '"'.repeat(900), address: 'desk@example.test' } }],
    ['many ids', { references: Array.from({ length: 100 }, (_, index) => `<${index}${'x'.repeat(900)}@b.test>`) }],
    ['the longest id', { inReplyTo: messageIdsIn(`<${'x'.repeat(995)}>`)[0] ?? '' }],
    ['many long addresses', { cc: Array(50).fill({ address: `${'x'.repeat(64)}@${'a'.repeat(60)}.test` }) }],
    [
      'the name and id of a file',
      { attachments: [{ content: Buffer.of(), filename: 'x'.repeat(255), contentId: 'y'.repeat(255) }] },
    ],
  ])('keeps every line within that limit in %s, without a blank to fold at', async (_, change) => {
    const lines = (await composed(change)).split('\r\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998)
  })

  it('keeps long words of a subject and of a custom header as they were given', async () => {
    const long = 'x'.repeat(3_000)
    const raw = await composed({ subject: `Re: ${long} =?`, headers: { 'X-A': `${long} ${long}` } })
    expect(parse(Buffer.from(raw))).toMatchObject({ subject: `Re: ${long} =?`, headers: { 'X-A': `${long} ${long}` } })
  })

  it('encodes no field of which receivers read the parts', async () => {
    const value = `<https://unsubscribe.test/${'x'.repeat(600)}>,<mailto:u@unsubscribe.test?subject=${'y'.repeat(600)}>`
    expect(await composed({ headers: { 'List-Unsubscribe': value } })).toContain(value)
  })

  it('ignores ids that no line can hold', () => {
    expect(messageIdsIn(`<${'x'.repeat(996)}>`)).toEqual([])
  })

  it('puts inline files next to the html and other files below', async () => {
    const { raw } = await compose({
      ...mail,
      html: '<img src="cid:logo">',
      attachments: [
        { content: Buffer.from('png'), contentId: 'logo', filename: 'lögo.png' },
        { content: Buffer.from('a\0b'), filename: 'report.pdf' },
        { content: Buffer.from('BEGIN:VCALENDAR'), contentType: 'text/calendar; method=REPLY', filename: 'i.ics' },
        { content: Buffer.from('?') },
      ],
    })
    const parsed = parse(raw)
    expect(parsed).toMatchObject({
      text: 'On its way.',
      html: '<img src="cid:logo">',
      attachments: [
        { filename: 'lögo.png', contentType: 'image/png', disposition: 'inline', contentId: 'logo', size: 3 },
        { filename: 'report.pdf', contentType: 'application/pdf', disposition: 'attachment', size: 3 },
        { filename: 'i.ics', contentType: 'text/calendar', disposition: 'attachment', size: 15 },
        { contentType: 'application/octet-stream', disposition: 'attachment', size: 1 },
      ],
    })
    expect(parsed.attachments.map((file) => bytesOf(raw, file))[1]).toEqual(Buffer.from('a\0b'))
    expect(raw.toString()).toContain('multipart/related')
  })

  it('writes an empty body when there is none', async () => {
    const { raw } = await compose({ from: mail.from, to: mail.to, messageId: mail.messageId, date: mail.date })
    expect(parse(raw)).toMatchObject({ text: '', attachments: [] })
    expect(parse(raw).subject).toBeUndefined()
  })

  it('ends every line with CRLF, so that transport changes neither bytes nor signature', async () => {
    const { raw } = await compose({
      ...mail,
      text: 'a\n\r.\rb\r\nc',
      html: '<p>a\n.\rb</p>',
      attachments: [{ content: Buffer.from('Subject: x\n\nold\n.\r'), contentType: 'message/rfc822' }],
    })
    expect(raw.toString()).not.toMatch(/[^\r]\n|\r(?!\n)/)
    expect(parse(raw).attachments).toMatchObject([{ contentType: 'message/rfc822' }])
  })

  it('carries a large file unchanged, in lines that every server accepts', async () => {
    const content = Buffer.from(Uint8Array.from({ length: 500_000 }, (_, index) => index % 251))
    const { raw } = await compose({ ...mail, attachments: [{ content, filename: 'large.bin' }] })
    const { attachments } = parse(raw)
    expect(attachments.map((file) => bytesOf(raw, file).equals(content))).toEqual([true])
    expect(
      raw
        .toString('latin1')
        .split('\r\n')
        .every(({ length }) => length <= 78),
    ).toBe(true)
  })

  it('carries a file with a multipart or message type as a plain file', async () => {
    const evil = Buffer.from('--x\r\nContent-Type: text/html\r\n\r\n<b>x</b>\r\n--x--')
    const long = Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(999)}\r\n`)
    const { raw } = await compose({
      ...mail,
      attachments: [
        { content: evil, filename: 'a.eml', contentType: 'multipart/mixed; boundary=x' },
        { content: long, contentType: 'message/rfc822' },
        { content: long, filename: 'long.eml' },
      ],
    })
    const { attachments, html } = parse(raw)
    expect(html).toBeUndefined()
    expect(attachments.map(({ contentType }) => contentType)).toEqual(Array(3).fill('application/octet-stream'))
    expect(attachments.map((file) => bytesOf(raw, file))).toEqual([evil, long, long])
  })

  it('writes international domains in ASCII', async () => {
    expect(await composed({ to: [{ address: 'ada@bücher.test' }] })).toContain('To: ada@xn--bcher-kva.test')
  })

  it('passes on custom headers in their spelling, without those the service owns', async () => {
    const raw = await composed({
      headers: {
        'X-API-Key': 'Grüße',
        'x-low': '1',
        Subject: 'no',
        bcc: 'x@y.test',
        'Content-Foo': 'no',
        Received: 'no',
      },
    })
    const { headers } = parse(Buffer.from(raw))
    expect(headers).toMatchObject({ 'X-API-Key': 'Grüße', 'x-low': '1', Subject: 'Order' })
    expect(raw).not.toMatch(/^(?:bcc|content-foo|received):/im)
  })

  it('lets the service headers and Reply-To win', async () => {
    const headers = { 'list-unsubscribe': '<https://caller>', 'Reply-To': 'caller@x.test' }
    const raw = await composed({
      headers,
      serviceHeaders: { 'List-Unsubscribe': '<https://service>' },
      replyTo: [{ address: 'r@x.test' }],
    })
    expect(raw.match(/^list-unsubscribe:.*$/gim)).toEqual(['List-Unsubscribe: <https://service>'])
    expect(raw.match(/^reply-to:.*$/gim)).toEqual(['Reply-To: r@x.test'])
    expect(await composed({ headers })).toContain('Reply-To: caller@x.test')
  })

  it.each<[string, Partial<OutgoingMail>]>([
    ['subject', { subject: 'a\r\nBcc: x@y.test' }],
    ['from', { from: { name: 'a\nb', address: 'a@b.test' } }],
    ['to', { to: [{ address: 'a@b.test\r\n' }] }],
    ['headers', { headers: { 'X-A': 'b\r\nBcc: x@y.test' } }],
    ['headers', { headers: { 'X-A: b\r\nBcc': 'x@y.test' } }],
    ['headers', { serviceHeaders: { 'X-A': 'b\0' } }],
    ['messageId', { inReplyTo: '<a@b>\r\nX: y' }],
    ['attachments', { attachments: [{ content: Buffer.from(''), filename: 'a"\r\nX: y' }] }],
  ])('refuses a line break in %s', async (field, change) => {
    await expect(compose({ ...mail, ...change })).rejects.toThrow(UnsafeMailError)
    await expect(compose({ ...mail, ...change })).rejects.toMatchObject({ field })
  })

  it.each(['=?utf-8?q?not_encoded?=', `=? ${'𒃆語e\u0301'.repeat(40)}`])(
    'encodes a subject that looks encoded, so that it is read as it was given: %s',
    async (subject) => {
      expect(parse(Buffer.from(await composed({ subject }))).subject).toBe(subject)
    },
  )

  it('signs with a DKIM signature that verifies', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const record = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const { raw } = await compose({
      ...mail,
      subject: 'Grüße',
      html: '<p>x</p>',
      dkim: { domain: 'example.test', keys: [{ selector: 's1', privateKey }] },
    })
    const asked: string[] = []
    const verified = await dkimVerify(raw, {
      resolver: async (name: string) => {
        asked.push(name)
        return [[`v=DKIM1; k=rsa; p=${record}`]]
      },
    })
    expect(asked).toEqual(['s1._domainkey.example.test'])
    expect(verified.results.map((result: { status: { result: string } }) => result.status.result)).toEqual(['pass'])
  })
})

describe('custom headers', () => {
  it.each([
    ['X-Campaign', 'a', true],
    ['x', '', true],
    ['X Y', 'a', false],
    ['X:Y', 'a', false],
    ['', 'a', false],
    ['Ü', 'a', false],
    ['X-A', 'a\nb', false],
    ['X-A', 'a\0', false],
  ])('%j: %j', (name, value, fine) => {
    expect(headerProblem(name, value) === undefined).toBe(fine)
  })

  it('are ignored when the service writes the field itself', () => {
    expect(
      ['from', 'BCC', 'Content-Type', 'content-x', 'DKIM-Signature', 'Mime-Version'].every(isServiceOwnedHeader),
    ).toBe(true)
    expect(['Reply-To', 'X-A', 'List-Unsubscribe', 'Contents'].some(isServiceOwnedHeader)).toBe(false)
  })
})

describe('generated message ids', () => {
  it('are unique, or the same for the same bytes', () => {
    expect(makeMessageId('example.test')).toMatch(/^<[0-9a-f-]{36}@example\.test>$/)
    expect(makeMessageId('example.test')).not.toBe(makeMessageId('example.test'))
    expect(isMadeMessageId(makeMessageId('example.test'), 'Example.test')).toBe(true)
    expect(isMadeMessageId(makeMessageId('other.test'), 'example.test')).toBe(false)
    expect(isMadeMessageId('<order-1@example.test>', 'example.test')).toBe(false)
    expect(messageIdFromBytes(Buffer.from('x'))).toBe(messageIdFromBytes(Buffer.from('x')))
    expect(messageIdFromBytes(Buffer.from('x'))).toMatch(/^<[0-9a-f]{64}@[a-z0-9.]+>$/)
  })
})
