import { Headers } from '@zone-eu/mailsplit'
import { decodeCharset } from '../decode/charset.ts'
import type { Budget } from '../limits/limits.ts'

/** One header field: its name as written, its value unfolded but not yet decoded. */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

/** Only spaces and tabs may precede the colon (RFC 5322 4.5): `From\x0b:` is not a field. */
const FIELD_NAME = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/

const FOLD = /(?:\r?\n|\r)[ \t]*/g

const ENCODED_WORD = /=\?[\w-]{1,80}(?:\*[\w-]{0,80})?\?([qb])\?[^?]*\?=/gi
const RAW = /[\x80-\xff]/
const RAWS = /[\x80-\xff]/g

/** The fields of a parsed header. Lines that are not fields (an mbox `From ` line, garbage) are skipped. */
export function fieldsOf(headers: Headers | false): HeaderField[] {
  if (headers === false) return []
  return headers.getList().flatMap(({ line }) => {
    const [start = '', name] = FIELD_NAME.exec(line) ?? []
    if (name === undefined) return []
    // The lines are bytes as characters: only here the 8-bit charset that a sender used is determined. Until then nothing
    // is trimmed: the byte 0xA0, with which many characters of UTF-8 end, would be taken for a no-break space.
    const unfolded = line.slice(start.length).replace(FOLD, ' ')
    const value = decodeCharset(Buffer.from(withCodedWords(unfolded), 'latin1'))
    return [{ name, value: oneLine(value) }]
  })
}

/**
 * Bytes that a sender left raw inside an encoded word are in the charset of that word (RFC 2047), whatever is guessed for
 * the rest of the field: they are written as codes, so that they are decoded once and with their word.
 */
function withCodedWords(line: string): string {
  if (!RAW.test(line)) return line
  return line.replace(ENCODED_WORD, (word, encoding: string) =>
    word.replace(RAWS, (byte) => (encoding.toLowerCase() === 'q' ? `=${byte.charCodeAt(0).toString(16)}` : '')),
  )
}

/** The groups of header-like fields between empty lines, no more than `max` of them. */
export function fieldGroups(content: Buffer, max: number, { limits }: Budget): HeaderField[][] {
  const blocks = content.toString('latin1', 0, limits.bodyBytes).split(/\r?\n\r?\n/, max)
  const groups = blocks.map((block) => fieldsOf(new Headers(Buffer.from(block.slice(0, limits.headerBytes), 'latin1'))))
  return groups.filter((fields) => fields.length > 0).map((fields) => fields.slice(0, limits.headerFields))
}

/** The value of the first field of that name (lower case). */
export function firstValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name.toLowerCase() === name)?.value
}

/** The values of all fields of that name (lower case), in order. */
export function allValues(fields: readonly HeaderField[], name: string): string[] {
  return fields.filter((field) => field.name.toLowerCase() === name).map((field) => field.value)
}

/** One line of readable text: control characters become a space. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()
}
