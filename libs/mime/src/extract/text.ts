import { attributionAt, isClientSignature, isForwardMark, isHistoryMark, isQuoted } from './markers.ts'

/** This many quoted lines at the end are history even without an attribution. */
const UNANNOUNCED_QUOTE = 3

/**
 * What this message itself adds: quoted history and the trailing signature removed (mail 14). Forwarded messages are
 * content, and a body with answers between the quotes is kept whole. Never throws; linear in the text.
 */
export function extractReply(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  return lines.slice(0, replyEnd(lines)).join('\n').trim()
}

/** How many of the lines, from the top, are the message's own words. */
export function replyEnd(lines: readonly string[]): number {
  const forward = findIndex(lines, lines.length, isForwardMark)
  const hasForward = forward < lines.length
  const history = findIndex(lines, forward, (_, at) => isHistoryMark(lines, at))
  // A mail that begins with such a mark is all history: it was forwarded without a comment.
  if (history < forward && !hasWords(lines, history)) return lines.length
  const body = history < forward ? history : lines.length
  const attribution = findAttribution(lines, Math.min(history, forward), body)
  const end = attribution ?? (body < lines.length || hasForward ? body : dropTrailingQuote(lines, body))
  return hasForward && end > forward ? end : signatureStart(lines, end)
}

/** The first attribution before `limit` whose history extends to `end`, or undefined. */
function findAttribution(lines: readonly string[], limit: number, end: number): number | undefined {
  const words = lastWords(lines, signatureStart(lines, end))
  const quote = lines.findLastIndex((line, at) => at < end && isQuoted(line))
  for (let at = 0; at < limit; at++) {
    const found = attributionAt(lines, at)
    if (found === undefined) continue
    const after = at + found.length
    if (words < after) return found.kind === 'certain' || quote >= after || end < lines.length ? at : undefined
    // For clients that quote without marks, only the attribution separates old words from new ones.
    if (found.kind === 'certain' && quote < after && hasWords(lines, at)) return at
  }
  return undefined
}

/** Where trailing quoted lines begin when there are enough of them, otherwise `end`. */
function dropTrailingQuote(lines: readonly string[], end: number): number {
  const words = lastWords(lines, signatureStart(lines, end))
  const quoted = lines.slice(words + 1, end).filter(isQuoted)
  const forwarded = isForwardMark(quoted[0]?.replace(/^\s*>\s*/, '') ?? '')
  return words >= 0 && quoted.length >= UNANNOUNCED_QUOTE && !forwarded ? words + 1 : end
}

/**
 * Where the signature begins: a `-- ` line with nothing quoted below it, or one last line such as `Sent from my phone`.
 */
function signatureStart(lines: readonly string[], end: number): number {
  const quote = lines.findLastIndex((line, at) => at < end && isQuoted(line))
  for (let at = quote + 1; at < end; at++) {
    if (/^-- ?$/.test(lines[at] ?? '')) return at
  }
  const last = lines.findLastIndex((line, at) => at < end && line.trim() !== '')
  return last >= 0 && isClientSignature(lines[last] ?? '') ? last : end
}

/** Index of the last line before `end` that is neither empty nor quoted, or -1. */
function lastWords(lines: readonly string[], end: number): number {
  return lines.findLastIndex((line, at) => at < end && line.trim() !== '' && !isQuoted(line))
}

function hasWords(lines: readonly string[], end: number): boolean {
  for (let at = 0; at < end; at++) {
    if (lines[at]?.trim() !== '') return true
  }
  return false
}

function findIndex(lines: readonly string[], end: number, matches: (line: string, at: number) => boolean): number {
  for (let at = 0; at < end; at++) {
    if (matches(lines[at] ?? '', at)) return at
  }
  return end
}
