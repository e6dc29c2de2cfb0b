import type { MimeNode } from '@zone-eu/mailsplit'
import { decodeTransfer, type TransferEncoding, transferEncoding } from '../decode/transfer.ts'
import { fieldsOf, firstValue, type HeaderField } from '../headers/header-fields.ts'
import { type Parameterized, parseParameterized } from '../headers/parameters.ts'
import {
  beforeLineBreak,
  endOfWords,
  isAt,
  isDashed,
  isEmptyLine,
  isFolded,
  nextDashes,
  nextLine,
} from '../headers/raw-lines.ts'
import type { Budget } from '../limits/limits.ts'
import { LineSplitter } from './line-splitter.ts'
import { OpenBoundaries } from './open-boundaries.ts'

/** One MIME entity as offsets into the raw mail: nothing is copied or decoded until it is needed. */
export interface Part {
  readonly fields: readonly HeaderField[]
  /** Media type in lower case, for example `text/plain`. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly disposition: Parameterized | undefined
  readonly encoding: TransferEncoding
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly children: readonly Part[]
}

interface OpenPart extends Part {
  readonly depth: number
  type: string
  bodyEnd: number
  readonly children: OpenPart[]
}

const NOTHING = Buffer.alloc(0)
const MAX_BOUNDARY = 256
/** A boundary with its dashes and some blanks. */
const MAX_DELIMITER = MAX_BOUNDARY + 100
/**
 * Header bytes of all parts together, as a multiple of those of one: parsing a field costs far more than skipping it.
 */
const HEADS = 4
/** Delimiters of a mail, as a multiple of its parts: a multipart is closed once. */
const DELIMITERS = 4
const LINE_FEED = Buffer.from('\n')
const MEDIA_TYPE = /^[!#$&^_.+\w-]+\/[!#$&^_.+\w-]+$/

/** The tree of MIME parts (RFC 2045, 2046). A nested `message/rfc822` is a leaf. */
export function readStructure(raw: Buffer, budget: Budget): Part {
  return new StructureReader(raw, budget).read()
}

/** The fields of the mail's own header. */
export function readRootFields(raw: Buffer, budget: Budget): readonly HeaderField[] {
  return new StructureReader(raw, budget).read({ headerOnly: true }).fields
}

/** All parts without children, in document order. */
export function leavesOf(part: Part): Part[] {
  return part.children.length === 0 ? [part] : part.children.flatMap(leavesOf)
}

/** The decoded bytes of a leaf, piece by piece. */
export function piecesOf(raw: Buffer, part: Part): Iterable<Buffer> {
  return decodeTransfer(raw.subarray(part.bodyStart, part.bodyEnd), part.encoding)
}

/** The decoded bytes of a leaf as one buffer, at most `most` of them or a little more. */
export function contentOf(raw: Buffer, part: Part, most: number): Buffer {
  const pieces: Buffer[] = []
  let length = 0
  for (const piece of piecesOf(raw, part)) {
    pieces.push(piece)
    length += piece.length
    if (length > most) break
  }
  const [only = NOTHING, ...others] = pieces
  return others.length === 0 ? only : Buffer.concat(pieces, length)
}

/** Feeds mailsplit the lines that can matter to it, and records where in the mail its parts are. */
class StructureReader {
  readonly #raw: Buffer
  readonly #budget: Budget
  readonly #splitter: LineSplitter
  readonly #parts = new Map<MimeNode, OpenPart>()
  #root: OpenPart | undefined
  #current: MimeNode | undefined
  #nodes = 1
  /** Where the header being read begins; undefined in a body. */
  #head: number | undefined = 0
  #headFields = 0
  #headIsFull = false
  /** Bytes of the headers read so far. */
  #headsRead = 0
  #delimiters = 0
  /** Those of the current part and the ones around it; undefined when they may have changed. */
  #boundaries: OpenBoundaries | undefined

  constructor(raw: Buffer, budget: Budget) {
    this.#raw = raw
    this.#budget = budget
    this.#splitter = new LineSplitter(budget.limits)
  }

  read({ headerOnly = false } = {}): Part {
    let at = 0
    let goesOn = true
    while (at < this.#raw.length && goesOn && !(headerOnly && this.#root)) {
      const next = nextLine(this.#raw, at)
      goesOn = this.#readLine(at, next)
      if (goesOn) at = this.#head === undefined ? nextDashes(this.#raw, next) : next
    }
    if (goesOn && this.#head !== undefined) this.#show(Buffer.alloc(0), at, at, true)
    if (!goesOn) this.#budget.truncated = true
    this.#dropEmptyEnd()
    for (const part of this.#parts.values()) this.#showAsTextIfEmpty(part)
    return this.#root ?? wholeAsText(this.#raw)
  }

  /** A delimiter at the very end opens a part that has neither a header nor a body: its sender meant to close. */
  #dropEmptyEnd(): void {
    const parent = this.#current?.parentNode ? this.#parts.get(this.#current.parentNode) : undefined
    const last = parent?.children.at(-1)
    if (last === undefined || last.fields.length > 0 || last.children.length > 0) return
    if (this.#raw.subarray(last.bodyStart).every(isBlank) && parent && parent.children.length > 1) parent.children.pop()
  }

  /** @returns whether there is more to read. */
  #readLine(at: number, next: number): boolean {
    const delimiter = this.#delimiterAt(at, next)
    if (delimiter !== undefined) {
      if (this.#delimiters++ >= DELIMITERS * this.#budget.limits.parts) return false
      return this.#closeUnclosed(delimiter, at) && this.#show(delimiter, at, next)
    }
    if (this.#head === undefined || !this.#fitsHead(at, next, this.#head)) return true
    return this.#show(this.#raw.subarray(at, next), at, next)
  }

  #show(line: Buffer, at: number, next: number, final = false): boolean {
    const meaning = this.#splitter.read(line, final)
    switch (meaning.kind) {
      case 'content':
        return true
      case 'header':
        this.#enter(meaning.node, next)
        if (!this.#headIsFull && this.#head !== undefined) this.#headsRead += next - this.#head
        this.#head = undefined
        return true
      case 'delimiter':
        this.#leave(meaning.isNew ? meaning.node.parentNode : meaning.node, at)
        this.#current = meaning.node
        this.#boundaries = undefined
        this.#head = meaning.isNew ? next : undefined
        this.#headFields = 0
        this.#headIsFull = false
        if (meaning.isNew) this.#nodes++
        return this.#nodes <= this.#budget.limits.parts
      case 'stop':
        return false
    }
  }

  /**
   * The line as mailsplit recognises delimiters: without the blanks that RFC 2046 5.1.1 lets relays add, and with a
   * line end.
   */
  #delimiterAt(at: number, next: number): Buffer | undefined {
    if (!isDashed(this.#raw, at)) return undefined
    this.#boundaries ??= new OpenBoundaries(this.#current)
    const end = endOfWords(this.#raw, at, Math.min(next, at + MAX_DELIMITER))
    if (!this.#boundaries.has(this.#raw, at + 2, end)) return undefined
    return Buffer.concat([this.#raw.subarray(at, end), LINE_FEED])
  }

  /**
   * mailsplit looks for the two innermost boundaries only. An inner multipart whose sender never closed it would take
   * the rest of the mail (RFC 2046 5.1.2), so it is closed here.
   */
  #closeUnclosed(line: Buffer, at: number): boolean {
    for (;;) {
      const [current, parent] = [this.#current, this.#current?.parentNode]
      if (!current || !parent || delimits(line, current._boundary) || delimits(line, parent._boundary)) return true
      const isOpen = this.#show(Buffer.from(`--${parent._boundary}--\n`), at, at)
      if (!isOpen || this.#current === current) return isOpen
    }
  }

  #fitsHead(at: number, next: number, head: number): boolean {
    if (isEmptyLine(this.#raw, at)) return true
    const { headerBytes, headerFields } = this.#budget.limits
    const continues = isFolded(this.#raw, at)
    const bytes = next - head
    this.#headIsFull ||= bytes > headerBytes || this.#headsRead + bytes > HEADS * headerBytes
    this.#headIsFull ||= !continues && this.#headFields >= headerFields
    if (this.#headIsFull) this.#budget.truncated = true
    else if (!continues) this.#headFields++
    return !this.#headIsFull
  }

  #enter(node: MimeNode, bodyStart: number): OpenPart {
    const parent = node.parentNode ? this.#parts.get(node.parentNode) : undefined
    const fields = fieldsOf(node.headers)
    const fallback = parent?.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const content = parseParameterized(firstValue(fields, 'content-type') ?? fallback)
    const disposition = firstValue(fields, 'content-disposition')
    const part: OpenPart = {
      depth: parent === undefined ? 0 : parent.depth + 1,
      fields,
      type: mediaType(content.value),
      parameters: content.parameters,
      disposition: disposition === undefined ? undefined : parseParameterized(disposition),
      encoding: transferEncoding(firstValue(fields, 'content-transfer-encoding') ?? ''),
      bodyStart,
      bodyEnd: this.#raw.length,
      children: [],
    }
    // mailsplit does not see a boundary that no semicolon precedes.
    const boundary = part.parameters.get('boundary')
    if (!node._boundary && boundary) node._boundary = Buffer.from(boundary)
    if (!this.#mayHaveChildren(part, node)) node._boundary = false
    this.#parts.set(node, part)
    this.#current = node
    this.#boundaries = undefined
    this.#root ??= part
    parent?.children.push(part)
    return part
  }

  #mayHaveChildren(part: OpenPart, { _boundary }: MimeNode): boolean {
    if (!part.type.startsWith('multipart/') || !_boundary || _boundary.length > MAX_BOUNDARY) return false
    if (part.depth < this.#budget.limits.depth) return true
    this.#budget.truncated = true
    return false
  }

  /** Ends the current part and those around it, up to the one that continues. */
  #leave(to: MimeNode | false | undefined, at: number): void {
    for (let node = this.#current; node && node !== to; node = node.parentNode || undefined) {
      // A delimiter within a header: the part has no body.
      if (!this.#parts.has(node) && node._headerlen > 0) this.#enterHeaderOnly(node, at)
      const part = this.#parts.get(node)
      if (part !== undefined) part.bodyEnd = Math.max(part.bodyStart, beforeLineBreak(this.#raw, at))
    }
  }

  #enterHeaderOnly(node: MimeNode, at: number): void {
    node.parseHeaders()
    this.#enter(node, at)
  }

  /** A multipart in which no part can be found is shown as text, since RFC 2046 5.1 does not define the case. */
  #showAsTextIfEmpty(part: OpenPart): void {
    const isEmpty = part.type.startsWith('multipart/') && part.children.length === 0
    if (isEmpty && part.depth < this.#budget.limits.depth) part.type = 'text/plain'
  }
}

/** The media type of a field; what does not name one is text (RFC 2045 5.2), or some multipart. */
function mediaType(value: string): string {
  if (MEDIA_TYPE.test(value)) return value
  return value.startsWith('multipart/') ? 'multipart/mixed' : 'text/plain'
}

function delimits(line: Buffer, boundary: Buffer | false): boolean {
  if (!boundary || !isAt(line, 2, boundary)) return false
  const rest = line.toString('latin1', 2 + boundary.length)
  return rest === '\n' || rest === '--\n'
}

function isBlank(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09
}

function wholeAsText(raw: Buffer): Part {
  const none = { fields: [], parameters: new Map(), disposition: undefined, children: [] }
  return { type: 'text/plain', encoding: 'none', bodyStart: 0, bodyEnd: raw.length, ...none }
}
