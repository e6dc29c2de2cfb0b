import { decodeCharset } from './charset.ts'
import type { Budget } from './limits.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** One header field: its name as written, its value unfolded but not yet decoded. */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

export interface HeaderBlock {
  readonly fields: readonly HeaderField[]
  /** Offset of the first byte after the empty line. */
  readonly bodyStart: number
}

/** Reads the header fields between two offsets. Lines that are no field (an mbox `From ` line, garbage) are passed over. */
export function readHeaderBlock(raw: Buffer, start: number, end: number, budget: Budget): HeaderBlock {
  const { headerBytes, headerFields } = budget.limits
  const fields: HeaderField[] = []
  let fieldStart = -1
  let at = start
  const finish = (to: number): void => {
    if (fieldStart < 0) return
    const field = readField(raw.subarray(fieldStart, to))
    fieldStart = -1
    if (field !== undefined) fields.push(field)
  }
  while (at < end) {
    const feed = raw.indexOf(LF, at)
    const next = feed < 0 || feed >= end ? end : feed + 1
    const first = raw[at]
    if (first === LF || (first === CR && raw[at + 1] === LF)) {
      finish(at)
      return { fields, bodyStart: next }
    }
    if (first !== SPACE && first !== TAB) finish(at)
    if (next - start > headerBytes || fields.length >= headerFields) {
      budget.truncated = true
      finish(at)
    } else if (first !== SPACE && first !== TAB) fieldStart = at
    at = next
  }
  finish(end)
  return { fields, bodyStart: end }
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

function readField(bytes: Buffer): HeaderField | undefined {
  const text = decodeCharset(bytes)
  const colon = text.indexOf(':')
  if (colon <= 0) return undefined
  const name = text.slice(0, colon).trimEnd()
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) return undefined
  return { name, value: oneLine(text.slice(colon + 1).replace(/\r?\n[\t ]*/g, ' ')) }
}
