import { firstValue, type HeaderField, readHeaderBlock } from './header-block.ts'
import type { Budget } from './limits.ts'
import { type Parameterized, parseParameterized } from './parameters.ts'
import { decodeTransfer } from './transfer.ts'

/** One MIME entity as offsets into the raw mail: nothing is copied or decoded until someone asks. */
export interface Part {
  /** Position in document order, the mail itself being 0. The same bytes and limits always give the same index. */
  readonly index: number
  readonly fields: readonly HeaderField[]
  /** Media type in lower case, for example `text/plain`. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly disposition: Parameterized | undefined
  readonly encoding: string
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly children: readonly Part[]
}

const MAX_BOUNDARY = 256
const MEDIA_TYPE = /^[!#$&^_.+\w-]+\/[!#$&^_.+\w-]+$/
const DASH = 0x2d
const LF = 0x0a
const CR = 0x0d

/** The tree of MIME parts (RFC 2045, 2046). A nested `message/rfc822` is a leaf. */
export function readStructure(raw: Buffer, budget: Budget): Part {
  return readPart(raw, 0, raw.length, 0, 'text/plain', budget)
}

/** All parts without children, in document order. */
export function leavesOf(part: Part): Part[] {
  return part.children.length === 0 ? [part] : part.children.flatMap(leavesOf)
}

/** The decoded bytes of a leaf. */
export function contentOf(raw: Buffer, part: Part): Buffer {
  return decodeTransfer(raw.subarray(part.bodyStart, part.bodyEnd), part.encoding)
}

function readPart(raw: Buffer, start: number, end: number, depth: number, fallback: string, budget: Budget): Part {
  const index = budget.parts++
  const { fields, bodyStart } = readHeaderBlock(raw, start, end, budget)
  const content = parseParameterized(firstValue(fields, 'content-type') ?? fallback)
  const disposition = firstValue(fields, 'content-disposition')
  const declared = MEDIA_TYPE.test(content.value) ? content.value : 'text/plain'
  const container = declared.startsWith('multipart/')
  const children = container ? readChildren(raw, bodyStart, end, depth, declared, content, budget) : []
  return {
    index,
    fields,
    // A multipart in which no part can be found is shown as the text that it is (RFC 2046 5.1 has no better idea).
    type: container && children.length === 0 && depth < budget.limits.depth ? 'text/plain' : declared,
    parameters: content.parameters,
    disposition: disposition === undefined ? undefined : parseParameterized(disposition),
    encoding: (firstValue(fields, 'content-transfer-encoding') ?? '').split(/[;\s]/, 1)[0]?.toLowerCase() ?? '',
    bodyStart,
    bodyEnd: end,
    children,
  }
}

function readChildren(
  raw: Buffer,
  start: number,
  end: number,
  depth: number,
  type: string,
  content: Parameterized,
  budget: Budget,
): Part[] {
  if (depth >= budget.limits.depth) {
    budget.truncated = true
    return []
  }
  const boundary = content.parameters.get('boundary') ?? ''
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return []
  const fallback = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  const children: Part[] = []
  for (const [from, to] of sectionsOf(raw.subarray(0, end), start, boundary)) {
    if (budget.parts >= budget.limits.parts) {
      budget.truncated = true
      break
    }
    children.push(readPart(raw, from, to, depth + 1, fallback, budget))
  }
  return children
}

/** The ranges between the delimiter lines of one boundary (RFC 2046 5.1.1), without the line break before each. */
function* sectionsOf(raw: Buffer, start: number, boundary: string): Generator<readonly [number, number]> {
  const marker = Buffer.from(boundary, 'latin1')
  let sectionStart = -1
  for (let at = delimiterLine(raw, start, start); at >= 0; at = delimiterLine(raw, at, start)) {
    const rest = delimiterRest(raw, at, marker)
    if (rest !== undefined) {
      if (sectionStart >= 0) yield [sectionStart, Math.max(sectionStart, beforeLineBreak(raw, at))]
      if (rest.last) return
      sectionStart = rest.next
    }
    at += 2
  }
  if (sectionStart >= 0) yield [sectionStart, raw.length]
}

/** Offset of the next line from `from` on that begins with two dashes, or -1. */
function delimiterLine(raw: Buffer, from: number, start: number): number {
  if (from === start && raw[from] === DASH && raw[from + 1] === DASH) return from
  const found = raw.indexOf('\n--', Math.max(start, from - 1), 'latin1')
  return found < 0 ? -1 : found + 1
}

function delimiterRest(raw: Buffer, at: number, marker: Buffer): { last: boolean; next: number } | undefined {
  const markerEnd = at + 2 + marker.length
  if (markerEnd > raw.length || raw.compare(marker, 0, marker.length, at + 2, markerEnd) !== 0) return undefined
  const last = raw[markerEnd] === DASH && raw[markerEnd + 1] === DASH
  let i = last ? markerEnd + 2 : markerEnd
  while (raw[i] === 0x20 || raw[i] === 0x09) i++
  if (raw[i] === CR) i++
  if (i < raw.length && raw[i] !== LF && !last) return undefined
  return { last, next: Math.min(i + 1, raw.length) }
}

function beforeLineBreak(raw: Buffer, at: number): number {
  if (raw[at - 1] !== LF) return at
  return raw[at - 2] === CR ? at - 2 : at - 1
}
