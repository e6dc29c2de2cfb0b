import { readListEntry } from '../../src/index.ts'

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
    `${'a'.repeat(65)}@example.com`,
    `${'a.'.repeat(130)}example`,
  ])('%j is neither an address nor a domain', (text) => {
    expect(readListEntry(text)).toBeUndefined()
  })
})
