/** How far before the end a better place to cut is looked for. */
const WINDOW = 200

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Where to end a piece of at most `max` UTF-16 units that begins at `start`: after a line, else after a word, else between two
 * characters as a reader counts them. Later than `start`, and never inside a code point.
 */
export function cutAt(text: string, start: number, max: number): number {
  const end = start + Math.max(1, max)
  if (end >= text.length) return text.length
  const from = Math.max(start, end - Math.min(WINDOW, Math.floor(max / 2)))
  const line = text.lastIndexOf('\n', end - 1)
  if (line >= from) return line + 1
  const space = text.lastIndexOf(' ', end - 1)
  if (space >= from) return space + 1
  return betweenCharacters(text, from, end, start)
}

/** The place at or before `at` that is not inside a code point. */
export function codePointStart(text: string, at: number): number {
  return isInside(text, at) ? at - 1 : at
}

function betweenCharacters(text: string, from: number, end: number, start: number): number {
  const first = codePointStart(text, from)
  let place = first
  for (const { index, segment } of characters.segment(text.slice(first, end + WINDOW))) {
    if (first + index + segment.length > end) break
    place = first + index + segment.length
  }
  if (place > start) return place
  // One character that is longer than the piece.
  return isInside(text, end) ? (end - 1 > start ? end - 1 : end + 1) : end
}

function isInside(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1))
}
