import { isEmptyLine, isFolded, nextLine } from '../headers/raw-lines.ts'
import type { ParseLimits } from '../limits/limits.ts'

/** A `From` field: the bytes after its colon, folds included. */
export interface FromField {
  readonly value: Buffer
  /** Every program assigns the same lines to this field. */
  readonly isClear: boolean
}

export interface FromFields {
  readonly fields: readonly FromField[]
  /** The header ends within its limits and begins with a field, so no program finds another `From` in it. */
  readonly isWhole: boolean
}

/** Blanks may precede the colon (RFC 5322 4.5): spaces and tabs, and no other invisible character (2.2.2). */
const FIELD = /^[\x21-\x39\x3b-\x7e]+[ \t\r\n]*:/
/** Also without a colon: some programs look for it on the next line. */
const FROM = /^from[ \t\r\n]*(?::|$)/i

/**
 * All `From` fields of a header, read from its bytes: a field that the structure parser skips or cuts off may still be
 * the one that another program shows. Linear in the limit.
 */
export function fromFieldsOf(raw: Buffer, limits: Pick<ParseLimits, 'headerBytes' | 'headerFields'>): FromFields {
  const fields: FromField[] = []
  const most = Math.min(raw.length, limits.headerBytes)
  let below: { from: number; index: number } | undefined
  let count = 0
  let at = 0
  for (; at < most && !isEmptyLine(raw, at); count++) {
    const end = endOfField(raw, at, most)
    const text = raw.toString('latin1', at, end)
    const name = FROM.exec(text)?.[0]
    if (name !== undefined) {
      below = { from: at + name.length, index: fields.length }
      fields.push({ value: raw.subarray(below.from, end), isClear: name.endsWith(':') })
    } else if (FIELD.test(text)) below = undefined
    // A line that is not a field, directly below a `From`, belongs to it for some programs.
    else if (below !== undefined) fields[below.index] = { value: raw.subarray(below.from, end), isClear: false }
    at = end
  }
  const ends = at < most || raw.length < limits.headerBytes
  return { fields, isWhole: ends && count <= limits.headerFields && !isFolded(raw, 0) }
}

/** Offset after the line at `at` and its continuation lines. */
function endOfField(raw: Buffer, at: number, most: number): number {
  let end = nextLine(raw, at)
  while (end < most && isFolded(raw, end)) end = nextLine(raw, end)
  return Math.min(end, most)
}
