import { listNames, readListEntry } from '../../src/index.ts'

describe('an entry of a list', () => {
  it.each([
    ['ada@example.com', 'ada@example.com', 'email'],
    ['  Ada@Example.COM. ', 'ada@example.com', 'email'],
    ['ada+tag@example.com', 'ada+tag@example.com', 'email'],
    ['\u00e4da@b\u00fccher.example', '\u00e4da@xn--bcher-kva.example', 'email'],
    ['Example.com', 'example.com', 'domain'],
    ['example.com.', 'example.com', 'domain'],
    ['B\u00dcCHER.example', 'xn--bcher-kva.example', 'domain'],
    ['mail.example.co.uk', 'mail.example.co.uk', 'domain'],
  ])('%j is read as %s', (text, entry, entryType) => {
    expect(readListEntry(text)).toEqual({ entry, entryType })
  })

  it.each([
    '',
    ' ',
    '.',
    'example',
    'a b.example',
    '*.example.com',
    '@example.com',
    'ada@',
    'ada@example',
    'Ada <ada@example.com>',
    '<ada@example.com>',
    'ada@example.com, bo@example.com',
    'ada@example.com\r\nBcc: bo@example.com',
    'example.com\0',
    '192.0.2.1',
    'ada@[192.0.2.1]',
    'x.example/\u00fc',
    '\u00fc.example?x=1',
    'ada@x.example/\u00fc',
    'b%2e\u00fc.example',
    `${'a'.repeat(65)}@example.com`,
    `${'a.'.repeat(130)}example`,
  ])('%j is neither an address nor a domain', (text) => {
    expect(readListEntry(text)).toBeUndefined()
  })
})

describe('the name of an address on a list', () => {
  it.each(['J\u030c', 'H\u0331', 'T\u0308', 'W\u030a', 'Y\u030a', '\u0130', '\u1e9e'])(
    'is the same however often %j is folded',
    (letter) => {
      const once = readListEntry(`${letter}a@x.example`)?.entry ?? ''
      expect(readListEntry(once)?.entry).toBe(once)
      expect(listNames(`${letter}a@x.example`)[0]).toBe(once)
      expect(listNames(once)[0]).toBe(once)
    },
  )
})
