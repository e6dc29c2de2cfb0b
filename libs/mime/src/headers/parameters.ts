import libmime from 'libmime'
import { cleanText } from '../decode/charset.ts'
import { decodeWords } from '../decode/encoded-words.ts'

/** `value; name=text; ...` of Content-Type and Content-Disposition, value and names in lower case. */
export interface Parameterized {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

/**
 * Reads a structured value with its parameters: RFC 2231, and the RFC 2047 words that clients use there against the
 * rules.
 */
export function parseParameterized(raw: string): Parameterized {
  const { value, params } = libmime.parseHeaderValue(withoutUtf7(withPlainBackslashes(withSemicolon(raw))))
  const parameters = Object.entries(params).map(([name, text]) => [name, cleanText(decodeWords(text))] as const)
  // A header that begins with its parameters has no value; libmime returns `false` for it.
  return { value: (value || '').trim().toLowerCase(), parameters: new Map(parameters) }
}

/** Some senders leave out the semicolon between the value and its first parameter. */
function withSemicolon(raw: string): string {
  return raw.replace(/^(\s*[^\s;="]{1,200})\s+(?=[\w-]{1,80}\s{0,8}=)/, '$1; ')
}

/** Windows clients write the backslashes of a path into file names unescaped. */
function withPlainBackslashes(raw: string): string {
  return raw.replace(/\\(["\\]?)/g, (pair, escaped) => (escaped === '' ? '\\\\' : pair))
}

/** UTF-7 is not supported here either (`isKnownCharset`). */
function withoutUtf7(raw: string): string {
  return raw.replace(/(\*\s*=\s*"?)(?:unicode-1-1-)?utf-?7(?:-imap)?(?=')/gi, '$1windows-1252')
}
