import { shownLine, shownText } from '../untrusted/index.ts'

/** What a model does not get: HTML may hide text from people, and raw header fields are of no use to it. */
const LEFT_OUT: ReadonlySet<string> = new Set(['html', 'extracted_html', 'headers', 'references'])
/** Members, in arguments and documents alike, whose names are data, not ours. */
export const MAPS: ReadonlySet<string> = new Set(['metadata'])
/** Members by which something is found again, so they are never shortened. */
const GIVEN_BACK = /(_ids?|_url|_token|^in_reply_to|^cursor)$/
/**
 * Members with mailboxes, which the API has shortened so that their addresses are whole (mail 2). A name can be long enough
 * to move the address out of a shorter line, and hold another one for the reader to see.
 */
const MAILBOXES: ReadonlySet<string> = new Set('from to cc bcc reply_to senders recipients email organizer'.split(' '))
/** Members that may have several lines. */
const PROSE: ReadonlySet<string> = new Set(['text', 'extracted_text', 'description', 'preview', 'comment'])

export type Document = Readonly<Record<string, unknown>>

/**
 * A document of the API as a model reads it: names in camelCase, and text without invisible characters. Names of
 * members that are data stay as they are.
 */
export function modelDocument(document: object): Record<string, unknown> {
  const members = Object.entries(document).filter(([name, value]) => value !== undefined && !LEFT_OUT.has(name))
  return Object.fromEntries(members.map(([name, value]) => [camelCase(name), shownValue(name, value)]))
}

function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (PROSE.has(name)) return shownText(value).trim()
    if (GIVEN_BACK.test(name)) return shownId(value)
    return MAILBOXES.has(name) ? shownLine(value, Number.POSITIVE_INFINITY) : shownLine(value)
  }
  if (Array.isArray(value)) return value.map((each) => shownValue(name, each))
  if (typeof value !== 'object' || value === null) return value
  if (!MAPS.has(name)) return modelDocument(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [shownLine(key), shownValue(key, each)]))
}

/**
 * An id in which nothing is invisible. A sender chooses the id of a message: where something had to be removed from one,
 * it ends with U+FFFD, because the rest may be the id of another message.
 */
function shownId(value: string): string {
  const shown = shownLine(value, Number.POSITIVE_INFINITY)
  return shown === value ? value : `${shown}\ufffd`
}

/** `inbox_id` as `inboxId`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `inboxId` as `inbox_id`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
