import { type Attribution, attributionAt } from '../attribution/attributions.ts'
import { isMarked, isRule, isShown, type Line, nextShown, type Place, type ReplyEnd, unquoted } from '../lines/line.ts'
import { isFooter, isWrappedRest } from './below-quote.ts'
import { historyAt, isBetweenMarks, isForwardMark, isHeader, isUnsentHeader } from './history.ts'
import { afterBlock, isInParagraph, isPasted } from './pasted.ts'

/** This many quoted lines at the end are history even without an attribution. */
const UNATTRIBUTED_QUOTE = 3
/** People put what somebody wrote in quotation marks; clients do not. */
const IN_MARKS = /^\s*["“”„«»‹›‘‚「『《]/u
/** How much of a quote is read to see whether it begins with its own attribution. */
const HEAD = 16

/** What the first pass finds: where earlier messages may begin. */
interface Marks {
  /** Places below which there are only quotes, unless the writer goes on below. */
  readonly quotes: Quote[]
  /** Unquoted lines that are not the writer's. */
  readonly attributions: Set<number>
  /** From here on everything is history, quoted or not. */
  readonly history?: Place
  /** A forwarded message begins: all of the rest is content. */
  readonly forwards: boolean
}

interface Quote extends Place {
  readonly attributed: boolean
}

/** Whether blank lines separate the paragraphs, as in plain text, or also the mere lines of html. */
export type Layout = 'paragraphs' | 'lines'

/**
 * Where the writer's own words end and earlier messages begin (mail 14): the first attribution, mark or quote that is
 * followed by nothing of the writer's. Linear in the text.
 */
export function replyEnd(lines: readonly Line[], layout: Layout): ReplyEnd {
  const marks = findMarks(lines, layout)
  if (marks.forwards) return { kind: 'whole' }
  const end = marks.history?.line ?? lines.length
  const last = lastOwnLine(lines, end, marks)
  const below = marks.quotes.filter((quote) => last < quote.line)
  const attributed = below.find((quote) => quote.attributed)
  const [first] = below
  const isLongFirst = first !== undefined && isLong(lines, first, attributed?.line ?? end)
  const place = (isLongFirst ? first : attributed) ?? marks.history
  if (place !== undefined) return showsBefore(lines, place) ? { kind: 'cut', place } : { kind: 'whole' }
  return marks.quotes.some((quote) => quote.line < last) ? { kind: 'whole' } : { kind: 'none' }
}

function findMarks(lines: readonly Line[], layout: Layout): Marks {
  const quotes: Quote[] = []
  const attributions = new Set<number>()
  const addQuote = (place: Place, below: number): void => {
    quotes.push({ ...place, attributed: true })
    for (let own = place.line; own < below; own++) attributions.add(own)
  }
  /** The writer lists attributions, as those of letters in a file. */
  let lists = false
  /** The writer notes who wrote what and when. */
  let notes = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (line === undefined || line.blank) continue
    if (line.role === 'history' || isBetweenMarks(line))
      return { quotes, attributions, history: { line: at, column: 0 }, forwards: false }
    if (line.quoted) {
      const head = lines[at - 1]?.quoted === true ? [] : headOf(lines, at)
      if (head[0] !== undefined && isForwardMark(head[0])) return { quotes, attributions, forwards: true }
      if (lines[at - 1]?.quoted !== true) quotes.push({ line: at, column: 0, attributed: isSelfAttributed(head) })
      continue
    }
    if (isForwardMark(line)) return { quotes, attributions, forwards: true }
    const column = historyAt(lines, at)
    const isWithin = (): boolean => layout === 'paragraphs' && isInParagraph(lines, at)
    if (column === 0 && (isPasted(lines, at) || (isUnsentHeader(lines, at) && isWithin()))) {
      at = afterBlock(lines, at) - 1
      continue
    }
    if (column !== undefined) {
      const body = nextShown(lines, afterBlock(lines, at))
      // Some clients quote below a header too, and then the writer may answer in between.
      if (lines[body]?.quoted !== true) return { quotes, attributions, history: { line: at, column }, forwards: false }
      addQuote({ line: at, column }, body)
      at = body - 1
      continue
    }
    const found = line.role === 'attribution' ? declared(lines, at) : attributionAt(lines, at)
    if (found === undefined) continue
    const place = { line: at, column: found.column }
    const next = nextShown(lines, at + found.length)
    if (lines[next]?.quoted === true) {
      addQuote(place, at + found.length)
      at += found.length - 1
      continue
    }
    if (found.strength === 'likely') continue
    const isInline = found.column > 0 && layout === 'paragraphs' && isContinued(lines, at + found.length)
    if (line.role === undefined && (isInline || IN_MARKS.test(lines[next]?.text ?? ''))) continue
    if (found.strength === 'named') {
      notes ||= isNote(lines, at + found.length)
      if (notes) continue
    }
    lists ||= isWithin() || isPasted(lines, at)
    if (!lists || line.role !== undefined || found.column > 0)
      return { quotes, attributions, history: place, forwards: false }
    at += found.length - 1
  }
  return { quotes, attributions, forwards: false }
}

/**
 * Whether the attribution without an address that ends above this line is the writer's: clients leave a blank line below
 * theirs, and where there are several, somebody keeps a log.
 */
function isNote(lines: readonly Line[], below: number): boolean {
  if (lines[below]?.blank === false) return true
  for (let at = below; at < lines.length; at++) {
    if (lines[at]?.quoted === false && attributionAt(lines, at)?.strength === 'named') return true
  }
  return false
}

/** Whether text follows at once on the line that ends above this one with a colon. */
function isContinued(lines: readonly Line[], below: number): boolean {
  return lines[below]?.blank === false && /: *$/.test(lines[below - 1]?.folded ?? '')
}

/** The attribution that a client's markup declares. */
function declared(lines: readonly Line[], at: number): Attribution {
  let after = at + 1
  while (lines[after]?.role === 'attribution') after++
  return { length: after - at, column: 0, strength: 'certain' }
}

/** The first lines of a quote, without its marks. */
function headOf(lines: readonly Line[], at: number): Line[] {
  const head: Line[] = []
  for (let next = at; next < at + HEAD && lines[next]?.quoted === true; next++) head.push(unquoted(lines[next] as Line))
  return head.slice(nextShown(head, 0))
}

/** Whether a quote begins with its own attribution or header, as those of phones do. */
function isSelfAttributed(head: readonly Line[]): boolean {
  if (head.length === 0) return false
  return (
    head[0]?.role === 'cited' ||
    attributionAt(head, 0) !== undefined ||
    isHeader(head, 0, false) ||
    historyAt(head, 0) === 0
  )
}

/** Whether the lines from here on are quoted history although they have no attribution, not a passage that is cited. */
function isLong(lines: readonly Line[], quote: Quote, end: number): boolean {
  if (lines[quote.line - 1]?.blank === false) return false
  const above = lines.findLast((line, at) => at < quote.line && !line.blank)
  if (above?.folded.trimEnd().endsWith(':')) return false
  const quoted = lines.slice(quote.line, end).filter(isMarked)
  // So Python prompts.
  if (quoted.every((line) => line.folded.startsWith('>>> '))) return false
  // A list without an end of a sentence may be the writer's.
  if (!quoted.some((line) => /[.!?,;:] *$/.test(line.folded) || isBlankQuote(line))) return false
  return quoted.length >= UNATTRIBUTED_QUOTE && lines[quote.line]?.role !== 'citation'
}

function isBlankQuote(line: Line): boolean {
  return unquoted(line).blank
}

/** Index of the last line before `end` that the writer wrote, or -1. */
function lastOwnLine(lines: readonly Line[], end: number, { quotes, attributions }: Marks): number {
  const quote = lines.findLastIndex((line, at) => at < end && line.quoted)
  const first = quotes[0]
  const isBelow =
    first !== undefined && showsBefore(lines, first) && isFooter(lines, { first: first.line, below: quote + 1, end })
  for (let at = isBelow ? quote : end - 1; at >= 0; at--) {
    const line = lines[at]
    if (line === undefined || line.quoted || !isShown(line) || attributions.has(at)) continue
    if (!isWrappedRest(lines, at) && !isRule(line)) return at
  }
  return -1
}

function showsBefore(lines: readonly Line[], { line, column }: Place): boolean {
  if (lines[line]?.text.slice(0, column).trim()) return true
  for (let at = 0; at < line; at++) {
    const before = lines[at]
    if (before !== undefined && !before.quoted && isShown(before)) return true
  }
  return false
}
