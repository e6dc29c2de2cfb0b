import { LineGuard } from '../../src/smtp/protocol/line-guard.ts'

function verdict(text: string, chunk = text.length): string {
  const guard = new LineGuard()
  const bytes = Buffer.from(text, 'latin1')
  try {
    for (let at = 0; at < bytes.length; at += chunk) guard.check(bytes.subarray(at, at + chunk))
    guard.end()
    return 'taken'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('strict line endings', () => {
  it.each([
    ['bare LF', 'a\nb\r\n'],
    ['bare LF', '\n'],
    ['bare LF', 'a\r\n.\nMAIL FROM:<x@y>\r\n'],
    ['bare LF', 'a\n.\nb\r\n'],
    ['bare LF', 'a\n.\r\nb\r\n'],
    ['bare CR', 'a\rb\r\n'],
    ['bare CR', 'a\r.\rb\r\n'],
    ['bare CR', 'a\r.\r\nb\r\n'],
    ['bare CR', 'a\r\n.\rb\r\n'],
    ['bare CR', 'a\r\r\nb\r\n'],
    ['bare CR', 'a\r'],
    ['disguised end of data', 'a\r\n\0.\r\nb\r\n'],
    ['disguised end of data', 'a\r\n.\0\r\nb\r\n'],
    ['disguised end of data', 'a\r\n\0.\0\r\nb\r\n'],
    ['disguised end of data', '\x1b.\r\nb\r\n'],
  ])('refuses for %s: %j', (reason, text) => {
    expect(verdict(text)).toBe(reason)
    expect(verdict(text, 1)).toBe(reason)
  })

  it.each([
    '',
    'a\r\nb\r\n',
    '\r\n\r\n',
    '.\r\n',
    '..\r\n',
    ' ..\r\n',
    '. a\r\n',
    'a\r\n. \r\n\t.\r\nb\r\n',
    'a.\r\n',
    '\0\r\n',
    'no end of line',
  ])('takes %j', (text) => {
    expect(verdict(text)).toBe('taken')
    expect(verdict(text, 1)).toBe('taken')
  })
})
