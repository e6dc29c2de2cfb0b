import addressparser from 'nodemailer/lib/addressparser'
import { type Mailbox, mailboxOf, shownMailbox } from './mailbox.ts'
import { type Token, tokensOf } from './tokens.ts'

const MAX_DISPLAY = 10_000

/** A list of mailboxes; `truncated` when it was cut off at a limit. */
export interface MailboxList {
  readonly displays: string[]
  readonly truncated: boolean
}

/**
 * The mailboxes of an address field as display strings (mail 2). Groups are replaced by their members. Accepts any
 * input, in linear time; never throws. An entry that names no mailbox is shown as text.
 */
export function readMailboxes(value: string, max: number): MailboxList {
  const displays: string[] = []
  for (const entry of entriesOf(value)) {
    const display = shownMailbox(entry)
    if (display === '') continue
    if (displays.length >= max) return { displays, truncated: true }
    displays.push(display)
  }
  return { displays, truncated: false }
}

/** The one address in a display string, without name and comments; undefined when there is none, or several. */
export function addressIn(display: string): string | undefined {
  const [mailbox, ...others] = addressparser(display.slice(0, MAX_DISPLAY), { flatten: true })
  return others.length > 0 ? undefined : mailbox?.address.trim() || undefined
}

/** The address without its display name and comments; a text without an address is returned unchanged. */
export function bareAddress(display: string): string {
  const [mailbox] = addressparser(display.slice(0, MAX_DISPLAY), { flatten: true })
  return mailbox?.address.trim() || display.trim()
}

/** The entries between commas and semicolons outside angle brackets; names of groups are dropped. */
function* entriesOf(value: string): Generator<Mailbox> {
  let entry: Token[] = []
  let isAngle = false
  // A colon ends a group's name only before its first address.
  let hasAddress = false
  for (const token of tokensOf(value)) {
    const special = token.kind === 'special' ? token.text : ''
    if (special === '<' || special === '>') isAngle = special === '<'
    hasAddress ||= special === '<' || special === '@'
    const ends = !isAngle && (special === ',' || special === ';')
    const endsName = !isAngle && !hasAddress && special === ':'
    if (!ends && !endsName) {
      entry.push(token)
      continue
    }
    if (ends && entry.length > 0) yield mailboxOf(entry)
    entry = []
    hasAddress = false
  }
  if (entry.length > 0) yield mailboxOf(entry)
}
