import addressparser from 'nodemailer/lib/addressparser'
import { decodeWords } from '../parse/encoded-words.ts'
import { oneLine } from '../parse/header-fields.ts'
import { formatAddress } from './format.ts'

/** Characters that end a mailbox or change its meaning when they stand outside quotes. */
const SPECIALS = /[()<>[\]:;@\\,"]/

const MAX_DISPLAY = 10_000

/** A list cut off at a limit says so. */
export interface MailboxList {
  readonly displays: string[]
  readonly truncated: boolean
}

/**
 * The mailboxes of an address header as display strings: as they appeared, white space collapsed, RFC 2047 words
 * decoded (mail 2). Groups are replaced by their members. Takes whatever senders write; never throws. Our own, because
 * every library takes a mailbox apart and none can say how it appeared: with quotes, or with a comment for a name.
 */
export function readMailboxes(value: string, max: number): MailboxList {
  const displays: string[] = []
  for (const piece of splitList(value)) {
    if (displays.length >= max) return { displays, truncated: true }
    const display = displayOf(piece)
    if (display !== '') displays.push(display)
  }
  return { displays, truncated: false }
}

/** The address without its display name and comments; a text that has no address in it as it is. */
export function bareAddress(display: string): string {
  const [mailbox] = addressparser(display.slice(0, MAX_DISPLAY), { flatten: true })
  return mailbox?.address.trim() || display.trim()
}

function displayOf(piece: string): string {
  const text = oneLine(piece.replace(/\s+/g, ' '))
  const close = text.lastIndexOf('>')
  const open = text.lastIndexOf('<', close)
  if (open < 0 || close < 0) return oneLine(decodeWords(text))
  const address = text.slice(open + 1, close).trim()
  const phrase = text.slice(0, open).trim()
  if (phrase === '' || phrase === '""') return address
  if (!phrase.includes('=?')) return `${phrase} <${address}>`
  const name = oneLine(decodeWords(unquoted(phrase)))
  return SPECIALS.test(name) ? formatAddress(name, address) : `${name} <${address}>`
}

function unquoted(phrase: string): string {
  return phrase.length > 1 && phrase.startsWith('"') && phrase.endsWith('"')
    ? phrase.slice(1, -1).replace(/\\(.)/g, '$1')
    : phrase
}

/** Splits at the commas and semicolons that are not inside quotes, comments or angle brackets; drops group names. */
function* splitList(value: string): Generator<string> {
  let from = 0
  let quoted = false
  let comment = 0
  let angle = false
  // A colon ends a group's name only ahead of its first address.
  let address = false
  for (let i = 0; i < value.length; i++) {
    const char = value[i]
    if (char === '\\') i++
    else if (char === '"' && comment === 0) quoted = !quoted
    else if (quoted) continue
    else if (char === '(') comment++
    else if (char === ')') comment = Math.max(0, comment - 1)
    else if (comment > 0) continue
    else if (char === '<') {
      angle = true
      address = true
    } else if (char === '>') angle = false
    else if (angle) continue
    else if (char === '@') address = true
    else if (char === ',' || char === ';') {
      yield value.slice(from, i)
      from = i + 1
      address = false
    } else if (char === ':' && !address) from = i + 1
  }
  yield value.slice(from)
}
