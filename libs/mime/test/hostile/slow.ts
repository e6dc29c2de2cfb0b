import { byLength } from '@restante/service/testing'
import { mailOf } from '../fixture.ts'

/** A mail that costs the most that the limits allow html and text to cost. */
const MOST_LINES = 5_000_000
const LINES = byLength({ short: 2_500_000, long: MOST_LINES })
/** Most of the time goes into its html. */
const FEWER_LINES = byLength({ short: 200_000, long: MOST_LINES })

/** A mail that takes a thread a second or two, and much memory. */
export function slowMail(): Buffer {
  return mailWith(LINES)
}

/** A mail to be read to its end, which takes more than half a second. */
export function slowishMail(): Buffer {
  return mailWith(FEWER_LINES)
}

function mailWith(count: number): Buffer {
  const html = '<blockquote type=cite>x</blockquote>x'.repeat(27_000)
  const lines = '--b-\r\n'.repeat(count)
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
