import { mailOf } from './fixture.ts'

/** A mail that a thread needs two seconds for, and much memory: the most that the limits let html and text cost. */
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
