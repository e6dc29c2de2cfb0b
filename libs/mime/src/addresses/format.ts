import { withoutDirections } from '../decode/directions.ts'

/** The longest display string, so that no later step needs to cut one inside its address. */
export const DISPLAY_LENGTH = 500

/** A shorter name is useless. */
const MIN_ROOM = 10

/** Characters with a special meaning in an address list: a name that contains one is shown in quotes (mail 2). */
const SPECIALS = /[,;:<>@()[\]"\\]/

/**
 * A mailbox as the API shows it: `Name <address>`, or the bare address when there is no name. The name is in quotes
 * exactly when it contains one of `,;:<>@()[]"\` (mail 2), however it was written, on one line and without characters
 * that change the direction of text. Not for the wire: there the composer quotes and encodes names (RFC 5322, RFC
 * 2047).
 */
export function formatAddress(displayName: string | undefined, address: string): string {
  const name = shownName(displayName ?? '', DISPLAY_LENGTH - address.length - ' <>'.length)
  return name === '' ? address : `${name} <${address}>`
}

/**
 * Text that names no mailbox, formatted like a name, with `at` for each `@`: common parsers accept an address even from
 * a quoted string that stands alone (nodemailer, Python's `parseaddr`). Empty for no text.
 */
export function formatText(text: string): string {
  return shownName(text.slice(0, 2 * DISPLAY_LENGTH).replaceAll('@', ' at '), DISPLAY_LENGTH)
}

/** @param room characters that the name may have, quotes and escapes included */
function shownName(text: string, room: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a control character must not get into a header
  const name = withoutDirections(text.replace(/[\x00-\x1f\x7f-\x9f\s]+/g, ' ')).trim()
  if (room < MIN_ROOM) return ''
  if (!SPECIALS.test(name)) return cut(name, room)
  const escaped = name.replace(/["\\]/g, '\\$&')
  if (escaped.length + 2 <= room) return `"${escaped}"`
  // Without a trailing backslash whose escaped character was cut off.
  return `"${cut(escaped, room - 2).replace(/(?:^|[^\\])(?:\\\\)*\\$/, (end) => end.slice(0, -1))}"`
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, Math.max(0, length)).toWellFormed().trimEnd()
}
