import { addressIn, parse, parseHeadersOnly, readAuthor } from '../../src/index.ts'
import { mailOf } from '../fixture.ts'

const from = (...fields: string[]) =>
  readAuthor(mailOf(...fields.map((field) => `From: ${field}`), 'To: x@y.co', '', 'x'))

describe('the author of a mail', () => {
  it.each([
    ['a@b.co', 'a@b.co', 'a@b.co'],
    ['<A.b+c@B.co>', 'A.b+c@B.co', 'A.b+c@B.co'],
    [' < a@b.co > ', 'a@b.co', 'a@b.co'],
    ['Ada Ray <a@b.co>', 'a@b.co', 'Ada Ray <a@b.co>'],
    ['"Jane Owner" <a@b.co>', 'a@b.co', 'Jane Owner <a@b.co>'],
    ['"Ray, Ada" <a@b.co>', 'a@b.co', '"Ray, Ada" <a@b.co>'],
    ['John Q. Public <a@b.co>', 'a@b.co', 'John Q. Public <a@b.co>'],
    ['Ada (Sales)\r\n\t<a@b.co> (x)', 'a@b.co', '"Ada (Sales) (x)" <a@b.co>'],
    ['a@b.co (Ada)', 'a@b.co', 'Ada <a@b.co>'],
    ['=?utf-8?q?Zo=C3=AB?=\r\n =?utf-8?b?IFI=?= <a@b.co>', 'a@b.co', 'Zoë R <a@b.co>'],
    ['=?utf-8?q?Ray=2C_Ada?= <a@b.co>', 'a@b.co', '"Ray, Ada" <a@b.co>'],
    ['"ceo@bank.test" <a@b.co>', 'a@b.co', '"ceo@bank.test" <a@b.co>'],
    ['a@b.co <A@b.co>', 'A@b.co', '"a@b.co" <A@b.co>'],
    ['Zoë <zoë@bücher.example>', 'zoë@bücher.example', 'Zoë <zoë@bücher.example>'],
    ['root@localhost', 'root@localhost', 'root@localhost'],
    [`${'x'.repeat(600)} <a@b.co>`, 'a@b.co', `${'x'.repeat(491)} <a@b.co>`],
  ])('is read from %j', (field, address, display) => {
    expect(from(field)).toEqual({ address, display })
  })

  it.each([
    // Ambiguous: an encoded word, a group, a comment, a quoted string.
    ['=?utf-8?q?CEO_=3Cceo=40bank.test=3E?=, attacker@evil.test', '"CEO <ceo at bank.test>, attacker at evil.test"'],
    ['=?utf-8?b?Q0VPIDxjZW9AYmFuay50ZXN0Pg==?=; a@evil.test', '"CEO <ceo at bank.test>; a at evil.test"'],
    ['=?utf-16be?b?AEMARQBP?= <ceo@bank.test>; a@evil.test', '"CEO <ceo at bank.test>; a at evil.test"'],
    ['<ceo@bank.test>: attacker@evil.test;', '"<ceo at bank.test>: attacker at evil.test;"'],
    ['(CEO <ceo@bank.test>', '"(CEO <ceo at bank.test>"'],
    ['"<ceo@bank.test>" attacker@evil.test', '"<ceo at bank.test> attacker at evil.test"'],
    ['=?utf-8?q?=22?= <a@evil.test> <ceo@bank.test>', '"\\" <a at evil.test> <ceo at bank.test>"'],
    ['Team: a@b.co;', '"Team: a at b.co;"'],
    ['undisclosed-recipients:;', '"undisclosed-recipients:;"'],
    ['a@b.co, c@d.co', '"a at b.co, c at d.co"'],
    ['a@b.co,', '"a at b.co,"'],
    ['<@x,@y:a@b.co>', '"< at x, at y:a at b.co>"'],
    ['=?utf-8?q?ceo=40bank.test?=', 'ceo at bank.test'],
    ['=?utf-8?q?ceo?=@bank.test', 'ceo at bank.test'],
    ['"ceo@bank.test"', 'ceo at bank.test'],
    ['"ceo@bank.test"@evil.test', 'ceo at bank.test at evil.test'],
    ['(ceo@bank.test)', '"(ceo at bank.test)"'],
    ['ceo(x)@bank.test', '"ceo(x) at bank.test"'],
    ['(\\))ceo@bank.test', '"())ceo at bank.test"'],
    ['((b))ceo@bank.test', '"((b))ceo at bank.test"'],
    ['ceo @ bank.test', 'ceo at bank.test'],
    ['<ceo@bank.test> a', '"<ceo at bank.test> a"'],
    ['<<ceo@bank.test>>', '"<<ceo at bank.test>>"'],
    ['>ceo@bank.test<', '">ceo at bank.test<"'],
    ['Foo [x] <ceo@bank.test>', '"Foo [x] <ceo at bank.test>"'],
    ['b@c.co <ceo@bank.test>', '"b at c.co <ceo at bank.test>"'],
    ['ceo@[192.0.2.1]', '"ceo at [192.0.2.1]"'],
    ['a..b@bank.test', 'a..b at bank.test'],
    ['ceo@bank.test.', 'ceo at bank.test.'],
    ['ceo＠bank.test', 'ceo＠bank.test'],
    ['ceo\u00a0@bank.test', 'ceo at bank.test'],
    ['ceo\0@bank.test', 'ceo at bank.test'],
    ['ceo\r@bank.test', 'ceo at bank.test'],
    [`${'x'.repeat(65)}@bank.test`, `${'x'.repeat(65)} at bank.test`],
    ['ceo@', 'ceo at'],
    ['Mailer Daemon', 'Mailer Daemon'],
    ['', '(no sender)'],
    [' \r\n\t', '(no sender)'],
    ['""', '(no sender)'],
  ])('is absent where From is %j, which is shown as text', (field, display) => {
    expect(from(field)).toEqual({ display })
    expect(addressIn(display)).toBeUndefined()
  })

  it('is absent where an address is not UTF-8, and present where only a name is not', () => {
    const raw = (field: string) => Buffer.from(`From: ${field}\r\n\r\n`, 'latin1')
    expect(readAuthor(raw('J\xfcrgen <a@b.co>'))).toEqual({ address: 'a@b.co', display: 'Jürgen <a@b.co>' })
    expect(readAuthor(raw('J\xfcrgen <a\xfc@b.co>')).address).toBeUndefined()
  })

  it.each([
    [['From: a@b.co', 'From: c@d.co'], '"a at b.co, c at d.co"'],
    [['From: a@b.co', 'fROM \t: a@b.co'], '"a at b.co, a at b.co"'],
    [['From: a@b.co', 'From:'], 'a at b.co'],
    [['From: a@b.co', 'From', ': c@d.co'], '"a at b.co, : c at d.co"'],
    [['From: a@b.co', 'c@d.co'], 'a at b.co c at d.co'],
    [['From: a@b.co', '\x0b<c@d.co>'], '"a at b.co <c at d.co>"'],
    [[' From: a@b.co', 'From: c@d.co'], 'c at d.co'],
    [['To: x@y.co'], '(no sender)'],
    [['From\x0b: ceo@bank.test'], '(no sender)'],
    [['From\x0c: ceo@bank.test'], '(no sender)'],
    [['From\xa0: ceo@bank.test'], '(no sender)'],
  ])('is absent where the header is %j', (lines, display) => {
    const raw = Buffer.from(`${lines.join('\r\n')}\r\n\r\nx`, 'latin1')
    expect(readAuthor(raw)).toEqual({ display })
    expect(parse(raw)).toMatchObject({ from: display })
    expect(parse(raw).author).toBeUndefined()
  })

  it.each(['\x0b', '\x0c', '\xa0', '\0', '.'])('is read from From where another field is named From and %j', (char) => {
    const raw = Buffer.from(`From${char}: ceo@bank.test\r\nFrom: a@b.co\r\n\r\nx`, 'latin1')
    expect(parse(raw)).toMatchObject({ author: 'a@b.co', from: 'a@b.co' })
  })

  it('is absent where a limit cuts a field or the header', () => {
    const long = `CEO <ceo@bank.test> (${'a'.repeat(8_200)})`
    expect(from(long).address).toBeUndefined()
    expect(from(long).display.length).toBeLessThanOrEqual(500)
    expect(from(long, 'attacker@evil.test').address).toBeUndefined()
    const padding = Array.from({ length: 20 }, (_, i) => `X-${i}: ${'y'.repeat(100)}`)
    for (const limits of [{ headerBytes: 1_000 }, { headerFields: 10 }]) {
      const raw = mailOf('From: a@b.co', ...padding, 'From: c@d.co', '', 'x')
      expect(readAuthor(raw, limits)).toEqual({ display: expect.stringMatching(/^"?a at b\.co/) })
      expect(parseHeadersOnly(raw, limits).author).toBeUndefined()
    }
  })

  it('is read from a header alone, with line feeds, and above a body that has a From', () => {
    expect(readAuthor(Buffer.from('From: a@b.co'))).toMatchObject({ address: 'a@b.co' })
    expect(readAuthor(Buffer.from('From: a@b.co\nTo: b@c.co\n\nFrom: c@d.co\n'))).toMatchObject({ address: 'a@b.co' })
    expect(readAuthor(Buffer.from('\r\nFrom: a@b.co\r\n'))).toEqual({ display: '(no sender)' })
  })
})
