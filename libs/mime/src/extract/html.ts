import { type RenderedLine, renderLines } from '../html/render.ts'
import { walkHtml } from '../html/walk.ts'
import { attributionAt } from './attribution/attributions.ts'
import { isShown, type Line, lineOf, nextShown, type Role, unquoted } from './lines/line.ts'
import { type MarkupOf, readMarkup } from './markup.ts'
import { historyAt, isForwardMark } from './rules/history.ts'
import { replyEnd } from './rules/reply-end.ts'
import { lastShown, placeOfEnd } from './rules/signature.ts'

/** How many lines of a container may precede what it quotes. */
const MAX_HEAD = 8

/**
 * `extractReply` for html: the same rules on what is rendered, with what the markup of known clients says about it (mail
 * 14). The result is the beginning of the html, closed where it is cut; without anything to strip, or with answers below
 * or between quotes, it is the whole html, trimmed. Linear in its length.
 */
export function extractReplyHtml(html: string): string {
  const rendered = renderLines(html)
  const lines = linesOf(html, rendered)
  const end = replyEnd(lines, 'lines')
  if (end.kind === 'whole') return html.trim()
  const place = placeOfEnd(lines, end)
  if (place.column > 0) return cut(html, offsetIn(html, rendered, place.line, place.column))
  if (place.line === lines.length) return html.trim()
  const shown = lastShown(lines, place.line)
  return shown < 0 ? html.trim() : cut(html, offsetIn(html, rendered, shown, rendered[shown]?.text.length ?? 0))
}

/** The rendered lines with their roles. */
function linesOf(html: string, rendered: readonly RenderedLine[]): Line[] {
  const markup = readMarkup(html)
  const lines = withRoles(html, rendered, markup)
  let from = 0
  for (const container of markup.containers) {
    while (from < lines.length && (rendered[from]?.end ?? 0) <= container.start) from++
    let after = from
    while (after < lines.length && (rendered[after]?.end ?? 0) <= container.end) after++
    markContainer(lines, from, after)
    from = after
  }
  return lines
}

function withRoles(html: string, rendered: readonly RenderedLine[], { roles }: MarkupOf): Line[] {
  let next = 0
  let role: Role | undefined
  return rendered.map(({ text, end }) => {
    for (let change = roles[next]; change !== undefined && change.start < end; change = roles[++next])
      role = change.role
    // The space of a signature's mark is not rendered.
    const shown = text === '--' && /\s|;/.test(html[end - 1] ?? '') ? '-- ' : text
    return lineOf(shown, role)
  })
}

/**
 * What a client put into a container for quotes: either blockquotes, between which the writer may answer, or all of it
 * is quoted.
 */
function markContainer(lines: Line[], from: number, end: number): void {
  const first = nextShown(lines, from, end)
  const head = lines[first]
  if (first >= end || head === undefined || isForwardMark(unquoted(head))) return
  const attribution = findAttribution(lines, first, end)
  const below = attribution === undefined ? firstQuoted(lines, first, end) : attribution.after
  if (below !== undefined && lines[below]?.quoted === true) {
    for (let at = first; at < below && attribution === undefined; at++) mark(lines, at, 'attribution', false)
    if (below === first) mark(lines, first, 'cited', true)
    return
  }
  for (let at = attribution?.at ?? first; at < end; at++) mark(lines, at, 'cited', true)
}

/** The attribution in a container's first lines, and the line below it. */
function findAttribution(
  lines: readonly Line[],
  first: number,
  end: number,
): { at: number; after: number } | undefined {
  let looked = 0
  for (let at = first; at < end && looked < MAX_HEAD; at++) {
    const line = lines[at]
    if (line === undefined || line.blank) continue
    looked++
    if (line.quoted) return undefined
    if (line.role === 'attribution') {
      let after = at
      while (after < end && (lines[after]?.role === 'attribution' || lines[after]?.blank === true)) after++
      return { at, after }
    }
    if (historyAt(lines, at) !== undefined) return { at, after: at }
    const found = attributionAt(lines, at)
    if (found !== undefined) return { at, after: nextShown(lines, at + found.length, end) }
  }
  return undefined
}

/** The first quoted line of a container, if only a few lines stand above it. */
function firstQuoted(lines: readonly Line[], first: number, end: number): number | undefined {
  let looked = 0
  for (let at = first; at < end && looked <= MAX_HEAD / 2; at++) {
    if (lines[at]?.quoted === true) return at
    if (lines[at]?.blank === false) looked++
  }
  return undefined
}

function mark(lines: Line[], at: number, role: Role, quoted: boolean): void {
  const line = lines[at]
  if (line !== undefined && (isShown(line) || quoted)) lines[at] = { ...line, role, quoted: quoted && !line.blank }
}

/**
 * The source offset of a column of a rendered line. The renderer tells where a run of text ends, which in preformatted
 * text may be lines below: what is shown after the column is counted back from there.
 */
function offsetIn(html: string, rendered: readonly RenderedLine[], line: number, column: number): number {
  const end = rendered[line]?.end ?? 0
  const rest = [rendered[line]?.text.slice(column)]
  for (let next = line + 1; rendered[next]?.end === end; next++) rest.push(rendered[next]?.text)
  const after = rest.join('').replace(/\s/g, '').length
  if (after === 0) return end
  const start = rendered.findLast((before, at) => at < line && before.end < end)?.end ?? 0
  const shown: number[] = []
  walkHtml(html, {
    text(value, to) {
      if (to <= start || to > end) return
      for (let at = 0; at < value.length; at++) {
        if (/\S/.test(value[at] ?? '')) shown.push(Math.max(start, to - value.length + at))
      }
    },
  })
  return shown.at(-after) ?? end
}

/** The html up to an offset, with all open elements closed there. */
function cut(html: string, offset: number): string {
  const kept = html.slice(0, offset)
  const open: string[] = []
  walkHtml(kept, {
    open: (element) => void (element.empty || open.push(element.name)),
    close: (_, end) => void (end < offset && open.pop()),
  })
  return (
    kept.trim() +
    open
      .toReversed()
      .map((name) => `</${name}>`)
      .join('')
  )
}
