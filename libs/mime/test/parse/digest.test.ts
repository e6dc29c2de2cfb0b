import { parse } from '../../src/index.ts'
import { mailOf } from '../fixture.ts'

describe('digest', () => {
  const mail = (encoding: string, body: string, ...more: string[]): Buffer =>
    mailOf(...more, 'Content-Type: text/plain; charset=utf-8', `Content-Transfer-Encoding: ${encoding}`, '', body)

  it('is the same for copies that differ in route and transfer encoding only', () => {
    const direct = parse(mail('8bit', 'Grüße\r\n'))
    const relayed = parse(mail('quoted-printable', 'Gr=C3=BC=C3=9Fe', 'Received: from x', 'Message-ID: <a@b>'))
    expect(relayed.digest).toBe(direct.digest)
    expect(direct.digest).toMatch(/^[0-9a-f]{64}$/)
  })

  it('is the same for a header that was refolded and re-encoded', () => {
    const direct = parse(mail('8bit', 'hi', 'Subject: Grüße aus Köln', 'Reply-To: "Ada" <a@b.co>, c@d.co'))
    const relayed = parse(
      mail(
        'base64',
        'aGk=',
        'Reply-To: Ada\r\n <a@b.co>,\r\n\t<c@d.co>',
        'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= aus\r\n\tKöln',
      ),
    )
    expect(relayed.digest).toBe(direct.digest)
  })

  const multipart = (text: string, type = 'image/gif', bytes = '1', name = 'a', ...more: string[]): Buffer =>
    mailOf(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      text,
      '--b',
      `Content-Type: ${type}; name=${name}`,
      '',
      bytes,
      ...more,
      '--b--',
    )

  it.each([
    ['body', mail('8bit', 'hi'), mail('8bit', 'ho')],
    ['subject', mail('8bit', 'hi', 'Subject: a'), mail('8bit', 'hi', 'Subject: b')],
    ['Reply-To', mail('8bit', 'hi', 'Reply-To: a@b.co'), mail('8bit', 'hi', 'Reply-To: c@d.co')],
    ['missing Reply-To', mail('8bit', 'hi', 'Reply-To: a@b.co'), mail('8bit', 'hi')],
    ['body beside a file', multipart('a'), multipart('b')],
    ['file', multipart('a', 'image/gif', '1'), multipart('a', 'image/gif', '2')],
    ['type of a file', multipart('a', 'image/gif'), multipart('a', 'image/png')],
    ['name of a file', multipart('a', 'image/gif', '1', 'a'), multipart('a', 'image/gif', '1', 'b')],
    ['end of a file', multipart('a', 'image/gif', '1', 'a'), multipart('a', 'image/gif', '1', 'a', '2')],
    [
      'number of files',
      multipart('a', 'image/gif', '1', 'a'),
      multipart('a', 'image/gif', '1', 'a', '--b', 'Content-Type: image/gif; name=a', '', '1'),
    ],
    ['html', mail('8bit', '<p>'), mailOf('Content-Type: text/html', '', '<p>')],
  ])('differs when the %s differs', (_, one, other) => {
    expect(parse(one).digest).not.toBe(parse(other).digest)
  })

  it('covers a body beyond the displayed limit', () => {
    const [one, other] = ['1', '2'].map((end) => parse(mail('8bit', `${'x'.repeat(200_000)}${end}`), { bodyBytes: 10 }))
    expect(one?.text).toBe(other?.text)
    expect(one?.digest).not.toBe(other?.digest)
  })
})
