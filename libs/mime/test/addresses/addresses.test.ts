import { readMailboxes } from '../../src/addresses/mailboxes.ts'
import {
  addressIn,
  bareAddress,
  formatAddress,
  isValidAddress,
  normalizeAddress,
  parseAddress,
  parseAddresses,
  sameAddress,
} from '../../src/index.ts'

describe('parseAddress', () => {
  it.each([
    ['a@b.co', { address: 'a@b.co' }],
    ['  a@b.co ', { address: 'a@b.co' }],
    ['<a@b.co>', { address: 'a@b.co' }],
    ['Ada Ray <a@b.co>', { name: 'Ada Ray', address: 'a@b.co' }],
    ['"Ray, Ada" <a@b.co>', { name: 'Ray, Ada', address: 'a@b.co' }],
    ['"Ada \\"A\\" Ray" <a@b.co>', { name: 'Ada "A" Ray', address: 'a@b.co' }],
    ['Ada (Sales) R. <a@b.co>', { name: 'Ada (Sales) R.', address: 'a@b.co' }],
    ['Zoë <zoë@bücher.example>', { name: 'Zoë', address: 'zoë@bücher.example' }],
    ["o'neil+tag@sub.b.co", { address: "o'neil+tag@sub.b.co" }],
  ])('accepts %s', (input, address) => {
    expect(parseAddress(input)).toEqual({ ok: true, address })
  })

  it.each([
    '',
    'a',
    'a@',
    '@b.co',
    'a@b',
    'a b@c.co',
    'a@b..co',
    '.a@b.co',
    'a.@b.co',
    'a@-b.co',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@b.co, c@d.co',
    'x@y.co, Ada <a@b.co>',
    'Ada <a@b.co> <c@d.co>',
    '"unclosed <a@b.co>',
    'Ada <a@b.co',
    'Ada\r\nBcc: x@y.co <a@b.co>',
    'a@b.co\0',
    `${'x'.repeat(65)}@b.co`,
    `a@${'x'.repeat(64)}.co`,
    `a@${'x.'.repeat(127)}co`,
    `${'n'.repeat(1_000)} <a@b.co>`,
  ])('refuses %j', (input) => {
    expect(parseAddress(input)).toMatchObject({ ok: false, problem: expect.any(String) })
  })

  it('reports which entries of a list are wrong', () => {
    expect(parseAddresses(['a@b.co', 'nope', 'c@d.co', 'x@'])).toMatchObject({
      ok: false,
      errors: [{ index: 1 }, { index: 3 }],
    })
    expect(parseAddresses(['a@b.co', 'B <c@d.co>'])).toEqual({
      ok: true,
      addresses: [{ address: 'a@b.co' }, { name: 'B', address: 'c@d.co' }],
    })
  })
})

describe('formatAddress', () => {
  it.each([
    [undefined, 'a@b.co'],
    ['', 'a@b.co'],
    ['Ada Ray', 'Ada Ray <a@b.co>'],
    ['Zoë Müller', 'Zoë Müller <a@b.co>'],
    ['Ray, Ada', '"Ray, Ada" <a@b.co>'],
    ['Acme Inc.', 'Acme Inc. <a@b.co>'],
    ["Ada's \u202eksed\u202c [x]", '"Ada\'s ksed [x]" <a@b.co>'],
    ['Ada "A" \\ Ray', '"Ada \\"A\\" \\\\ Ray" <a@b.co>'],
    ['a@b.co', '"a@b.co" <a@b.co>'],
    ['Ada\r\nBcc: x', '"Ada Bcc: x" <a@b.co>'],
  ])('%j', (name, display) => {
    expect(formatAddress(name, 'a@b.co')).toBe(display)
  })

  it('truncates a name, never its address, its quotes or an escape', () => {
    for (const unit of ['x', '"', '\\', ',', '😀']) {
      const display = formatAddress(unit.repeat(600), 'a@b.co')
      expect(display.length).toBeLessThanOrEqual(500)
      expect(display.isWellFormed()).toBe(true)
      expect(parseAddress(display)).toMatchObject({ ok: true, address: { address: 'a@b.co' } })
    }
    const long = `${'l'.repeat(494)}@b.co`
    expect(formatAddress('Ada, Ray', long)).toBe(long)
  })

  it('formats addresses that parseAddress can read', () => {
    for (const name of ['Ada', 'Ray, Ada', 'x "y" \\z', '<o>', 'a;b']) {
      expect(parseAddress(formatAddress(name, 'a@b.co'))).toEqual({ ok: true, address: { name, address: 'a@b.co' } })
    }
  })
})

describe('comparison', () => {
  it.each([
    ['A@B.co', 'a@b.CO', true],
    ['Ada <a@b.co>', 'Bo <A@B.CO>', true],
    ['a+x@b.co', 'a@b.co', false],
    ['a.b@c.co', 'ab@c.co', false],
    ['a@bücher.example', 'a@xn--bcher-kva.example', true],
    ['"<odd>" <a@b.co>', 'a@b.co', true],
  ])('%s and %s', (a, b, same) => {
    expect(sameAddress(a, b)).toBe(same)
  })

  it('normalizes to lower case and the ASCII domain', () => {
    expect(normalizeAddress(' Ada@BÜCHER.example ')).toBe('ada@xn--bcher-kva.example')
    expect(normalizeAddress('A@1')).toBe('a@1')
  })

  it.each([
    ['a@b.co', 'a@b.co'],
    ['Ada <a@b.co>', 'a@b.co'],
    ['a@b.co (Ada)', 'a@b.co'],
    ['Mailer', 'Mailer'],
  ])('finds the bare address of %s', (display, bare) => {
    expect(bareAddress(display)).toBe(bare)
  })

  it('finds an address in a display string only where there is exactly one', () => {
    expect(addressIn('"Ray, Ada" <a@b.co>')).toBe('a@b.co')
    for (const display of ['', 'Ada', '"Ada"', 'a@b.co, c@d.co']) expect(addressIn(display)).toBeUndefined()
  })

  it('refuses addresses with too many octets', () => {
    expect(isValidAddress(`${'ü'.repeat(32)}@b.co`)).toBe(true)
    expect(isValidAddress(`${'ü'.repeat(33)}@b.co`)).toBe(false)
  })
})

describe('readMailboxes', () => {
  it.each([
    ['a@b.co, c@d.co', ['a@b.co', 'c@d.co']],
    ['"Ray, Ada" <a@b.co>', ['"Ray, Ada" <a@b.co>']],
    ['"Jane Owner" <a@b.co>', ['Jane Owner <a@b.co>']],
    ['"Jane" "Q." Owner <a@b.co>', ['Jane Q. Owner <a@b.co>']],
    ['Ada (Sales) <a@b.co>', ['"Ada (Sales)" <a@b.co>']],
    ['Ada [x] <a@b.co>', ['"Ada [x]" <a@b.co>']],
    ['"back\\\\slash" <a@b.co>', ['"back\\\\slash" <a@b.co>']],
    ['Ada\t  Ray <a@b.co>', ['Ada Ray <a@b.co>']],
    ['=?utf-8?q?a=E2=80=AEb?= <a@b.co>', ['ab <a@b.co>']],
    ['<@a,@b:c@d.co>, Ada <@x:a@b.co>', ['c@d.co', 'Ada <a@b.co>']],
    ['a @ b.co, a@b.co(x)', ['a@b.co', 'x <a@b.co>']],
    ['"a b"@c.co, a@[192.0.2.1]', ['"a b"@c.co', 'a@[192.0.2.1]']],
    ['=?utf-8?q?Ray=2C_Ada?= <a@b.co>', ['"Ray, Ada" <a@b.co>']],
    ['"=?utf-8?q?Zo=C3=AB?=" <a@b.co>', ['Zoë <a@b.co>']],
    ['=?utf-8?q?x=0D=0ABcc=3A_y?= <a@b.co>', ['"x Bcc: y" <a@b.co>']],
    ['a@b.co (Ada, of Sales), <c@d.co>', ['"Ada, of Sales" <a@b.co>', 'c@d.co']],
    ['Team: a@b.co, B <c@d.co>;, e@f.co', ['a@b.co', 'B <c@d.co>', 'e@f.co']],
    ['undisclosed-recipients:;', []],
    [',, ,', []],
    ['Mailer Daemon', ['Mailer Daemon']],
    [',"", <>', ['"<>"']],
  ])('%s', (value, displays) => {
    expect(readMailboxes(value, 100).displays).toEqual(displays)
  })

  it.each([
    ['"never closed, a@b.co', '"\\"never closed, a at b.co"'],
    ['(never closed, a@b.co', '"(never closed, a at b.co"'],
    ['"a@b.co"', 'a at b.co'],
    ['(a@b.co)', '"(a at b.co)"'],
    ['=?utf-8?q?a=40b.co?=', 'a at b.co'],
    ['=?utf-8?q?Ada_=3Ca=40b.co=3E?=', '"Ada <a at b.co>"'],
    ['=?utf-8?q?a?=@b.co', 'a at b.co'],
    ['<a@b.co> <c@d.co>', '"<a at b.co> <c at d.co>"'],
    ['<a@b.co>: c@d.co', '"<a at b.co>: c at d.co"'],
    ['Ada a@b.co', 'Ada a at b.co'],
    ['Ada <a@b.co', '"Ada <a at b.co"'],
    ['a@b@c.co', 'a at b at c.co'],
    [`a@${'b'.repeat(400)}.co`, `a at ${'b'.repeat(400)}.co`],
  ])('shows %j, which names no mailbox, as text that no parser accepts as an address', (value, display) => {
    expect(readMailboxes(value, 100).displays).toEqual([display])
    expect(addressIn(display)).toBeUndefined()
  })

  it('stops at the limit and reports it', () => {
    expect(readMailboxes('a@b.co,'.repeat(9), 3)).toEqual({ displays: ['a@b.co', 'a@b.co', 'a@b.co'], truncated: true })
  })
})
