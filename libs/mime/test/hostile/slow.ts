import { mailOf } from '../fixture.ts'

/** A mail that takes a thread two seconds, and much memory: the most that the limits allow html and text to cost. */
export function slowMail(): Buffer {
  const html = '<blockquote type=cite>x</blockquote>x'.repeat(27_000)
  const lines = '--b-\r\n'.repeat(5_000_000)
  return mailOf(
    'Subject: slow',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    html,
    '--b',
    'Content-Type: a/b',
    '',
    lines,
    '--b--',
  )
}
