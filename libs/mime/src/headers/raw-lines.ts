const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d
const SPACE = 0x20
const TAB = 0x09

/** Offset after the line that begins at `at`. */
export function nextLine(raw: Buffer, at: number): number {
  const feed = raw.indexOf(LF, at)
  return feed < 0 ? raw.length : feed + 1
}

/** Offset of the next line, at `lineStart` or later, that begins with two dashes; the end if there is none. */
export function nextDashes(raw: Buffer, lineStart: number): number {
  const found = raw.indexOf('\n--', Math.max(0, lineStart - 1), 'latin1')
  return found < 0 ? raw.length : found + 1
}

export function isEmptyLine(raw: Buffer, at: number): boolean {
  return raw[at] === LF || (raw[at] === CR && raw[at + 1] === LF)
}

/** Whether the line at `at` continues the field above it (RFC 5322 2.2.3). */
export function isFolded(raw: Buffer, at: number): boolean {
  return raw[at] === SPACE || raw[at] === TAB
}

/** Offset of the line break that ends just before `at`: it belongs to the delimiter there (RFC 2046 5.1.1). */
export function beforeLineBreak(raw: Buffer, at: number): number {
  if (raw[at - 1] !== LF) return at
  return raw[at - 2] === CR ? at - 2 : at - 1
}

export function isDashed(raw: Buffer, at: number): boolean {
  return raw[at] === DASH && raw[at + 1] === DASH
}

/** Whether these bytes are at `at`; without a native call, because hostile mail triggers millions of checks. */
export function isAt(raw: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) {
    if (raw[at + i] !== bytes[i]) return false
  }
  return true
}

/** Offset after the last byte before `end` that is neither a blank nor a line break; `at` if there is none. */
export function endOfWords(raw: Buffer, at: number, end: number): number {
  let last = end
  while (last > at && isBlankOrBreak(raw[last - 1])) last--
  return last
}

function isBlankOrBreak(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF
}
