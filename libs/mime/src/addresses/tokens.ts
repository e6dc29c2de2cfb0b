/** One lexical token of an address field (RFC 5322 3.2), as characters of the unfolded field. */
export interface Token {
  /**
   * `atom`: a run of characters that are neither white space nor special, dots and non-ASCII included. `quoted` and
   * `comment`: without their delimiters and escapes. `literal`: a domain literal, with its brackets. `special`: one
   * character. `open`: the rest of the field after a quote or comment that is never closed.
   */
  readonly kind: 'atom' | 'quoted' | 'comment' | 'literal' | 'special' | 'open'
  readonly text: string
  readonly start: number
  /** Offset after its last character. */
  readonly end: number
}

const BLANK = /[ \t\r\n]/
const ATOM = /[^ \t\r\n()<>[\]:;@\\,"]+/y
const LITERAL = /\[[^[\]\\]*\]/y

/**
 * The tokens of an address field, in time linear to its length. Encoded words are not decoded: what is an address is
 * decided on the characters as they were sent (RFC 2047 6.2), because a decoded word may contain anything.
 */
export function* tokensOf(value: string): Generator<Token> {
  let at = 0
  while (at < value.length) {
    const char = value.charAt(at)
    if (BLANK.test(char)) {
      at++
      continue
    }
    const token = tokenAt(value, at, char)
    yield token
    at = token.end
  }
}

function tokenAt(value: string, start: number, char: string): Token {
  if (char === '"' || char === '(') return delimited(value, start, char)
  const kind = char === '[' ? 'literal' : 'atom'
  const pattern = char === '[' ? LITERAL : ATOM
  pattern.lastIndex = start
  const text = pattern.exec(value)?.[0]
  if (text === undefined) return { kind: 'special', text: char, start, end: start + 1 }
  return { kind, text, start, end: start + text.length }
}

/** A quoted string, or a comment with its nested comments (RFC 5322 3.2.2). */
function delimited(value: string, start: number, opening: string): Token {
  const isComment = opening === '('
  const parts: string[] = []
  let depth = 1
  let from = start + 1
  for (let at = from; at < value.length; at++) {
    const char = value[at]
    if (char === '\\' && at + 1 < value.length) {
      parts.push(value.slice(from, at))
      from = ++at
    } else if (isComment && char === '(') depth++
    else if (char === (isComment ? ')' : '"') && --depth === 0) {
      parts.push(value.slice(from, at))
      return { kind: isComment ? 'comment' : 'quoted', text: parts.join(''), start, end: at + 1 }
    }
  }
  return { kind: 'open', text: value.slice(start), start, end: value.length }
}
