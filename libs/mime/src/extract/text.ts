import { type Line, lineOf, type Place } from './lines/line.ts'
import { replyEnd } from './rules/reply-end.ts'
import { placeOfEnd } from './rules/signature.ts'

/**
 * What this message itself adds: quoted history and the trailing signature removed (mail 14). Forwarded messages are
 * content, and a body with answers below or between quotes is kept whole, as is one of which nothing would be left.
 * Never throws; linear in the text.
 */
export function extractReply(text: string): string {
  const source = text.replace(/\r\n?/g, '\n').split('\n')
  const lines = source.map((line) => lineOf(line))
  const end = replyEnd(lines, 'paragraphs')
  const whole = source.join('\n').trim()
  if (end.kind === 'whole') return whole
  const place = placeOfEnd(lines, end)
  return place.line === lines.length ? whole : textBefore(lines, place) || whole
}

/** The text ahead of a place, without what shows nothing at its end: clients leave blanks there that have no width. */
function textBefore(lines: readonly Line[], { line, column }: Place): string {
  const kept = lines.slice(0, line + 1).map(({ text, folded }, at) => {
    const shown = folded.slice(0, at === line ? column : undefined).trimEnd()
    return { text, shown: shown.length }
  })
  const last = kept.findLastIndex(({ shown }) => shown > 0)
  return kept
    .slice(0, last + 1)
    .map(({ text, shown }, at) => (at === last ? text.slice(0, shown) : text))
    .join('\n')
    .trim()
}
