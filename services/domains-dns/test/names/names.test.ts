import { asciiName } from '../../src/names/ascii.ts'
import { namesFrom, registrableName } from '../../src/names/registrable.ts'

const LONGEST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com`

describe('the compared form of a domain name', () => {
  it.each([
    ['is in lower case', 'EXAMPLE.com', 'example.com'],
    ['has no dot at its end', 'example.com.', 'example.com'],
    ['has A-labels', 'Bücher.example.com', 'xn--bcher-kva.example.com'],
    ['keeps sharp s, which the transitional form would replace', 'straße.de', 'xn--strae-oqa.de'],
    ['keeps final sigma, which the transitional form would replace', 'βόλος.com', 'xn--nxasmm1c.com'],
    ['is the same for A-labels in capitals', 'XN--BCHER-KVA.example.com', 'xn--bcher-kva.example.com'],
    ['has dots for the full stops of other scripts', '例え。jp', 'xn--r8jz45g.jp'],
    ['is in the composed form', 'bu\u0308cher.example.com', 'xn--bcher-kva.example.com'],
    ['may have hyphens in the third and fourth place', 'r3--a.example.com', 'r3--a.example.com'],
    ['may have 253 characters', LONGEST, LONGEST],
    ['may end in digits that are not a label', 'example.c0', 'example.c0'],
  ])('%s', (_, given, name) => {
    expect(asciiName(given)).toBe(name)
  })

  it.each([
    ['is empty', ''],
    ['is a dot', '.'],
    ['has an empty label', 'a..com'],
    ['begins with a dot', '.example.com'],
    ['ends with two dots', 'example.com..'],
    ['has an underscore', '_dmarc.example.com'],
    ['is a wildcard', '*.example.com'],
    ['has a space', 'exam ple.com'],
    ['has a line break', 'example.com\n'],
    ['has NUL', 'exam\u0000ple.com'],
    ['is an address of mail', 'a@example.com'],
    ['is a URL', 'https://example.com'],
    ['has a port', 'example.com:25'],
    ['has a label that begins with a hyphen', '-a.example.com'],
    ['has a label that ends with a hyphen', 'a-.example.com'],
    ['has a U-label that begins with a hyphen', '-ü.example.com'],
    ['has a label of 64 characters', `${'a'.repeat(64)}.com`],
    ['has 254 characters', `d${LONGEST}`],
    ['has a U-label that is too long as an A-label', `${'ü'.repeat(60)}.com`],
    ['has an A-label of nothing', 'xn--.com'],
    ['has an A-label of ASCII', 'xn--abc-.com'],
    ['has an A-label that cannot be decoded', 'xn--\u00e9.com'],
    ['mixes directions of writing in a label', 'a\u05d0.com'],
    ['has a joiner where none may be', 'a\u200db.com'],
    ['begins a label with a combining mark', '\u0300a.com'],
    ['has a lone surrogate', '\ud800.com'],
    ['has a thousand characters', 'a.'.repeat(500)],
  ])('does not exist of a text that %s', (_, given) => {
    expect(asciiName(given)).toBeUndefined()
  })
})

describe('a name that is registered', () => {
  it.each([
    'example.com',
    'sub.example.co.uk',
    'example.co.uk',
    'a.ck.example.com',
    // Private sections of the list are names of one owner.
    'github.io',
    'me.github.io',
    'a.io',
    'www.ck',
  ])('may be %s', (name) => {
    expect(registrableName(name, false)).toBe(name)
  })

  it.each([
    ['an IPv4 address', '192.0.2.1', /IP address/],
    ['an IPv6 address', '2001:db8::1', /IP address/],
    ['an IPv6 address in brackets', '[2001:db8::1]', /IP address/],
    ['an IPv4 address in another spelling', '192.0.513', /IP address/],
    ['an IPv4 address in hexadecimal', '1.0x7f', /IP address/],
    ['an IPv4 address with a dot at its end', '192.0.2.1.', /IP address/],
    ['one label', 'localhost', /two labels/],
    ['a top-level domain', 'museum', /two labels/],
    ['three characters', 'a.b', /4 to 253/],
    ['a public suffix', 'co.uk', /public suffix/],
    ['a public suffix in capitals', 'CO.UK.', /public suffix/],
    ['a public suffix in another script', '公司.cn', /public suffix/],
    ['a public suffix by a wildcard', 'anything.ck', /public suffix/],
    ['no name', 'not a name', /name of a domain/],
  ])('may not be %s', (_, name, problem) => {
    expect(() => registrableName(name, true)).toThrow(problem)
  })

  it.each(['alt', 'example', 'home.arpa', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test'])(
    'may be below .%s only where the installation allows it',
    (special) => {
      expect(() => registrableName(`my.${special}`, false)).toThrow(/not in public DNS/)
      expect(registrableName(`my.${special}`, true)).toBe(`my.${special}`)
    },
  )

  it('is found among the names from a name upwards', () => {
    expect(namesFrom('a.b.example.com')).toEqual(['a.b.example.com', 'b.example.com', 'example.com'])
  })
})
