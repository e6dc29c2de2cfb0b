import { lineOf } from './rules/line.ts'
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
  const end = replyEnd(lines)
  const whole = source.join('\n').trim()
  if (end.kind === 'whole') return whole
  const place = placeOfEnd(lines, end)
  const last = source[place.line]?.slice(0, place.column) ?? ''
  return [...source.slice(0, place.line), last].join('\n').trim() || whole
}
